#include "kernels/elementwise.hpp"

#include <cstddef>

namespace steelyard::kernels {

void add(std::span<float> target, std::span<const float> source) {
  float* __restrict to = target.data();
  const float* __restrict from = source.data();
  for (std::size_t i = 0; i < target.size(); ++i) to[i] += from[i];
}

void add(std::span<float> target, std::span<const float> first, std::span<const float> second) {
  float* __restrict to = target.data();
  const float* __restrict a = first.data();
  const float* __restrict b = second.data();
  for (std::size_t i = 0; i < target.size(); ++i) to[i] = a[i] + b[i];
}

void normalise(std::span<const std::uint8_t> pixels, float mean, float deviation, std::span<float> values) {
  const float scale = 1.0F / (255.0F * deviation);
  const float shift = -mean / deviation;
  const std::uint8_t* __restrict from = pixels.data();
  float* __restrict to = values.data();
  for (std::size_t i = 0; i < pixels.size(); ++i) to[i] = static_cast<float>(from[i]) * scale + shift;
}

}  // namespace steelyard::kernels
