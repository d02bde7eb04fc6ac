#pragma once

/// @file
/// Inventories from files of known formats (readers/readers.def): CSV, JSON, safetensors, ONNX, Keras.

#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/inventory.hpp"

namespace steelyard {

/// What a file says of a model.
struct InventoryFile {
  Inventory inventory;  ///< In the file's order, which is creation order. Initial values are zero.
  /// [tensors] multiply-adds of the layer that the tensor belongs to, per sample of the forward pass, on its
  /// weight. Where the file does not say: the number of elements, as in a fully connected layer.
  std::vector<double> operations;
};

/// @param name of a file in data/models/ without its ending, or a path with an ending of readers.def.
/// Errors name the file and what is wrong, or what is allowed.
Expected<InventoryFile> read_inventory(std::string_view name);

/// The names that data/models/ has, comma separated.
std::string inventory_names();
/// The endings of files that can be read, comma separated.
std::string inventory_endings();

/// What training and replay ask of an inventory: float32 throughout, and at most 2^36 elements.
Status check_trainable(const Inventory& inventory);

}  // namespace steelyard
