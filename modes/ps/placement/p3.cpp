#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// Jayarajan et al., Priority-based Parameter Propagation (2019): equal slices, round robin over slices.
Expected<Placed> place_p3(const Inventory& inventory, const PlacementOptions& options) {
  Placed placed;
  Cursor cursor(options.servers);
  for (TensorId id = 0; id < inventory.size(); ++id)
    for (Cutter cutter(id, inventory[id], placed.shards); cutter.left() > 0;)
      cutter.give(cursor.next(), options.slice_elements);
  return placed;
}

}  // namespace steelyard::ps
