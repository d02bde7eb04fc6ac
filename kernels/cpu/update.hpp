#pragma once

/// @file
/// Applies a rule of kernels/update.hpp to whole arrays on the CPU.

#include <cstddef>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

/// to[n] = rule(from[n], gradient[n]). `to` is `from` itself or does not overlap it.
template <typename Rule>
void update(const Rule& rule, std::size_t n, const float* from, const float* gradient, float* to) {
  STEELYARD_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) to[i] = rule(from[i], gradient[i]);
}

/// As above with one state array [n].
template <typename Rule>
void update(const Rule& rule, std::size_t n, const float* from, const float* gradient, float* to, float* v) {
  STEELYARD_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    float kept = v[i];
    to[i] = rule(from[i], gradient[i], kept);
    v[i] = kept;
  }
}

/// As above with two state arrays [n].
template <typename Rule>
void update(const Rule& rule, std::size_t n, const float* from, const float* gradient, float* to, float* m,
            float* v) {
  STEELYARD_INDEPENDENT
  for (std::size_t i = 0; i < n; ++i) {
    float first = m[i];
    float second = v[i];
    to[i] = rule(from[i], gradient[i], first, second);
    m[i] = first;
    v[i] = second;
  }
}

}  // namespace steelyard::kernels
