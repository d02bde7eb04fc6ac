#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// Graham's longest-processing-time rule (1969): the fullest server exceeds the optimum by at most a third.
// Servers without room are passed over.
Expected<Placed> place_largest_first(const Inventory& inventory, const PlacementOptions& options) {
  Servers servers(options);
  std::vector<int> owner_of(inventory.size());
  for (const std::size_t tensor : largest_first_order(inventory)) {
    const std::size_t bytes = inventory[tensor].bytes();
    owner_of[tensor] = servers.least_loaded(bytes);
    servers.add(owner_of[tensor], bytes);
  }
  return whole_tensors(inventory, owner_of);
}

}  // namespace steelyard::ps
