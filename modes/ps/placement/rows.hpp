#pragma once

/// @file
/// Partitioners that cut axis 0, as TensorFlow's do.

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

/// Length of axis 0; a scalar has one row.
inline std::size_t rows_of(const Tensor& tensor) { return tensor.shape.empty() ? 1 : tensor.shape.front(); }

/// Cuts every tensor along axis 0 into parts(tensor) parts, from 1 to its rows; the first rows mod parts get
/// one more row. Part after part goes to the next server.
template <typename Parts>
Placed cut_rows(const Inventory& inventory, int servers, Parts parts) {
  Placed placed;
  Cursor cursor(servers);
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const std::size_t rows = rows_of(inventory[id]);
    const std::size_t row = inventory[id].elements() / rows;
    const std::size_t count = parts(inventory[id]);
    Cutter cutter(id, inventory[id], placed.shards);
    for (std::size_t p = 0; p < count; ++p)
      cutter.give(cursor.next(), (rows / count + (p < rows % count ? 1 : 0)) * row);
  }
  return placed;
}

}  // namespace steelyard::ps
