#pragma once

/// @file
/// The weights of Keras 2 and 3 in HDF5, alone or in a .keras archive.

#include <functional>
#include <string>

#include "src/base/expected.hpp"
#include "src/model/inventory_file.hpp"
#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {

struct Extent {
  std::size_t begin = 0;
  std::size_t size = 0;
};

/// Lists the weights of the HDF5 file that stands at `locate(file)`. All of that is done in a process of its
/// own: the HDF5 library is not made for hostile files. Optimizer state, metrics and integers are left out.
Expected<InventoryFile> read_keras_weights(const std::string& path,
                                           const std::function<Expected<Extent>(const SourceFile&)>& locate);

}  // namespace steelyard::readers
