#pragma once

/// @file
/// Elementwise operations on spans of equal length. The functors are one element's, the same for CPU and GPU.

#include <cstdint>
#include <span>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

struct Sum {
  STEELYARD_HOST_DEVICE float operator()(float a, float b) const { return a + b; }
};

/// A byte to (byte / 255 - mean) / deviation.
struct Normal {
  Normal(float mean, float deviation) : scale(1.0F / (255.0F * deviation)), shift(-mean / deviation) {}
  STEELYARD_HOST_DEVICE float operator()(std::uint8_t pixel) const {
    return static_cast<float>(pixel) * scale + shift;
  }

  float scale;
  float shift;
};

/// target[n] += source[n].
void add(std::span<float> target, std::span<const float> source);
/// target[n] = first[n] + second[n]; none overlaps another.
void add(std::span<float> target, std::span<const float> first, std::span<const float> second);

/// values[n] = (pixels[n] / 255 - mean) / deviation.
void normalise(std::span<const std::uint8_t> pixels, float mean, float deviation, std::span<float> values);

}  // namespace steelyard::kernels
