#pragma once

/// @file
/// Counter-based random numbers: a pure function of (seed, stream, index), so any rank can compute any
/// element of any tensor alone and get the same value, whatever the placement.

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace steelyard {

/// SplitMix64 (Steele, Lea, Flood 2014): a bijective mixer of 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mix(mix(mix(seed) + stream) + index);
}

/// Uniform in [-1, 1), 24 bits.
constexpr float random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto bits = static_cast<std::int32_t>(random_bits(seed, stream, index) >> 40U);
  return static_cast<float>(bits - (1 << 23)) / static_cast<float>(1 << 23);
}

/// Normal with mean 0 and deviation 1 (Box and Muller 1958), of two random numbers of 53 bits.
inline double random_normal(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto unit = [&](std::uint64_t which) {  // In (0, 1], whose logarithm is finite.
    return static_cast<double>((random_bits(seed, stream, 2 * index + which) >> 11U) + 1) * 0x1p-53;
  };
  return std::sqrt(-2.0 * std::log(unit(0))) * std::cos(2.0 * std::numbers::pi * unit(1));
}

/// Fisher-Yates; the same permutation on every machine (std::shuffle is not). Bias below n / 2^64.
template <typename T>
void shuffle(std::span<T> items, std::uint64_t seed, std::uint64_t stream) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random_bits(seed, stream, i) % i]);
}

}  // namespace steelyard
