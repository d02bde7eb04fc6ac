#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// ps-lite's key ranges, with the last elements given to the last server: server s owns the flat elements
// [floor(E s / S), floor(E (s + 1) / S)); with weights, in proportion to them (Cruise).
Expected<Placed> place_range(const Inventory& inventory, const PlacementOptions& options) {
  PlacementOptions unlimited = options;
  unlimited.memory.clear();  // The rule knows none.
  std::vector<std::size_t> left = Servers(unlimited).shares(total_elements(inventory));
  Placed placed;
  std::size_t server = 0;
  for (TensorId id = 0; id < inventory.size(); ++id)
    for (Cutter cutter(id, inventory[id], placed.shards); cutter.left() > 0;) {
      while (left[server] == 0) ++server;
      const std::size_t count = std::min(left[server], cutter.left());
      cutter.give(static_cast<int>(server), count);
      left[server] -= count;
    }
  return placed;
}

}  // namespace steelyard::ps
