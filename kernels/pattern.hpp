#pragma once

/// @file
/// A table repeated behind itself: element i of an array is element (begin + i) modulo its size.

#include <cstddef>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

struct Repeated {
  const float* table;  ///< [classes]
  std::size_t classes;
  std::size_t begin;
  STEELYARD_HOST_DEVICE float operator()(std::size_t i) const { return table[(begin + i) % classes]; }
};

}  // namespace steelyard::kernels
