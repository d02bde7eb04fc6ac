#include <algorithm>

#include "modes/ps/placement/rows.hpp"

namespace steelyard::ps {

// Paddle's distribute transpiler (slice_variable): at most S blocks of whole rows, none below a least size.
Expected<Placed> place_paddle(const Inventory& inventory, const PlacementOptions& options) {
  const auto servers = static_cast<std::size_t>(options.servers);
  Placed placed;
  Cursor cursor(options.servers);
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const std::size_t n = inventory[id].elements();
    const std::size_t row = n / rows_of(inventory[id]);
    const std::size_t count = std::min(servers, std::max<std::size_t>(1, n / options.block_elements));
    const std::size_t block = ((n - 1) / count / row + 1) * row;
    for (Cutter cutter(id, inventory[id], placed.shards); cutter.left() > 0;)
      cutter.give(cursor.next(), block);
  }
  return placed;
}

}  // namespace steelyard::ps
