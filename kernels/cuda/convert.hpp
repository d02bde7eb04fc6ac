#pragma once

#include "kernels/convert.hpp"
#include "kernels/cuda/queue.hpp"

namespace steelyard::kernels {

void to_half(const Queue& queue, std::span<const float> from, std::span<std::uint16_t> to);
void from_half(const Queue& queue, std::span<const std::uint16_t> from, std::span<float> to);
void to_bfloat(const Queue& queue, std::span<const float> from, std::span<std::uint16_t> to);
void from_bfloat(const Queue& queue, std::span<const std::uint16_t> from, std::span<float> to);

void add_half(const Queue& queue, std::span<float> target, std::span<const std::uint16_t> source);
void add_bfloat(const Queue& queue, std::span<float> target, std::span<const std::uint16_t> source);

}  // namespace steelyard::kernels
