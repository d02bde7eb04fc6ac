#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// TensorFlow's replica_device_setter; it counts every variable, `global_step` first: offset 1 reproduces
// that.
Expected<Placed> place_round_robin(const Inventory& inventory, const PlacementOptions& options) {
  const auto servers = static_cast<std::size_t>(options.servers);
  std::vector<int> owner_of(inventory.size());
  for (std::size_t i = 0; i < owner_of.size(); ++i)
    owner_of[i] = static_cast<int>((options.offset % servers + i) % servers);
  return whole_tensors(inventory, owner_of);
}

}  // namespace steelyard::ps
