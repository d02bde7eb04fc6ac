#include "kernels/elementwise.hpp"

#include <cstddef>

namespace steelyard::kernels {

void add(std::span<float> target, std::span<const float> source) {
  float* __restrict to = target.data();
  const float* __restrict from = source.data();
  for (std::size_t i = 0; i < target.size(); ++i) to[i] = Sum{}(to[i], from[i]);
}

void add(std::span<float> target, std::span<const float> first, std::span<const float> second) {
  float* __restrict to = target.data();
  const float* __restrict a = first.data();
  const float* __restrict b = second.data();
  for (std::size_t i = 0; i < target.size(); ++i) to[i] = Sum{}(a[i], b[i]);
}

void normalise(std::span<const std::uint8_t> pixels, float mean, float deviation, std::span<float> values) {
  const Normal normal(mean, deviation);
  const std::uint8_t* __restrict from = pixels.data();
  float* __restrict to = values.data();
  for (std::size_t i = 0; i < pixels.size(); ++i) to[i] = normal(from[i]);
}

}  // namespace steelyard::kernels
