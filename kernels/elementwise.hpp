#pragma once

/// @file
/// Elementwise operations on spans of equal length.

#include <cstdint>
#include <span>

namespace steelyard::kernels {

/// target[n] += source[n].
void add(std::span<float> target, std::span<const float> source);
/// target[n] = first[n] + second[n]; none overlaps another.
void add(std::span<float> target, std::span<const float> first, std::span<const float> second);

/// values[n] = (pixels[n] / 255 - mean) / deviation.
void normalise(std::span<const std::uint8_t> pixels, float mean, float deviation, std::span<float> values);

}  // namespace steelyard::kernels
