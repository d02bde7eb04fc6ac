#pragma once

/// @file
/// The types of elements that model files may have, by their names in NumPy and PyTorch.

#include <cstddef>
#include <string>
#include <string_view>

namespace steelyard {

struct Dtype {
  std::string_view name;         ///< "float32", as in CSV, JSON, NumPy and PyTorch.
  std::string_view safetensors;  ///< "F32"; empty: that format has no such type.
  int onnx = 0;                  ///< TensorProto.DataType; 0: that format has no such type.
  std::size_t bytes = 0;         ///< Of one element.
  bool floating = false;         ///< A number that training can move, not an index, count or flag.
};

/// @return nullptr where there is none.
const Dtype* dtype_named(std::string_view name);
const Dtype* dtype_of_safetensors(std::string_view name);
const Dtype* dtype_of_onnx(std::size_t number);
/// A floating-point or integer type of plain layout. @return nullptr where there is none.
const Dtype* dtype_of_size(bool floating, bool is_signed, std::size_t bytes);

/// All names, comma separated.
std::string dtype_names();

}  // namespace steelyard
