#pragma once

/// @file
/// The header of a .safetensors file: 8 bytes of length, little endian, then JSON; the values follow.

#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/readers/builder.hpp"

namespace steelyard::readers {

struct SafeTensor {
  std::string name;
  Shape shape;
  const Dtype* dtype = nullptr;
  std::size_t begin = 0;  ///< Of its bytes, after the header.
  std::size_t end = 0;
};

/// Reads the header and nothing else. Errors where it is longer than 100 MB, or where the tensors' bytes do
/// not fill the rest of the file without gap or overlap.
/// @return the tensors by offset, which is the order in which they were written.
Expected<std::vector<SafeTensor>> read_safetensors_header(const std::string& path);

}  // namespace steelyard::readers
