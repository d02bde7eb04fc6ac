#pragma once

/// @file
/// The list of a model's tensors, in creation order, and how one flat arena holds them.

#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/types.hpp"

namespace steelyard {

struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;  ///< Outermost axis first; empty for a scalar.
  float bound = 0.0F;              ///< Initial values are uniform in [-bound, bound).
  std::size_t element_bytes = sizeof(float);
  std::string_view dtype = "float32";  ///< The name of a row of dtype.hpp, whose size element_bytes is.

  std::size_t elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
  std::size_t bytes() const { return elements() * element_bytes; }
};

using Inventory = std::vector<Tensor>;

inline std::size_t total_elements(const Inventory& inventory) {
  std::size_t total = 0;
  for (const Tensor& tensor : inventory) total += tensor.elements();
  return total;
}

/// Where each tensor begins in an arena of `elements` floats. Tensors do not overlap; gaps are allowed
/// (a mode keeps message headers there).
struct Layout {
  std::vector<std::size_t> begin;  ///< [tensors]
  std::size_t elements = 0;
};

}  // namespace steelyard
