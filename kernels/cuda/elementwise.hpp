#pragma once

#include "kernels/cuda/queue.hpp"
#include "kernels/elementwise.hpp"

namespace steelyard::kernels {

void add(const Queue& queue, std::span<float> target, std::span<const float> source);
void add(const Queue& queue, std::span<float> target, std::span<const float> first,
         std::span<const float> second);
void normalise(const Queue& queue, std::span<const std::uint8_t> pixels, float mean, float deviation,
               std::span<float> values);

}  // namespace steelyard::kernels
