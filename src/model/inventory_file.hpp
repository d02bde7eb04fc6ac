#pragma once

/// @file
/// Inventories from CSV files: `name,shape,dtype` and, if the file has it, `multiply_adds`.

#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/inventory.hpp"

namespace steelyard {

/// What a file says of a model.
struct InventoryFile {
  Inventory inventory;  ///< In the file's order, which is creation order. Initial values are zero.
  /// [tensors] multiply-adds of the layer that the tensor belongs to, per sample of the forward pass, on the
  /// row of its weight. Without that column: the number of elements, as in a fully connected layer.
  std::vector<double> operations;
};

/// @param name of a file in data/models/ without its ending, or a path to a .csv file.
/// Errors name the file, the line and what is wrong.
Expected<InventoryFile> read_inventory(std::string_view name);

/// The names that data/models/ has, comma separated.
std::string inventory_names();

}  // namespace steelyard
