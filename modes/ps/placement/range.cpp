#include <algorithm>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

// ps-lite's key ranges, with the last elements given to the last server: server s owns the flat elements
// [floor(E s / S), floor(E (s + 1) / S)).
std::vector<Shard> place_range(const Inventory& inventory, const PlacementOptions& options) {
  const std::size_t total = total_elements(inventory);
  const auto servers = static_cast<std::size_t>(options.servers);
  std::vector<Shard> shards;
  std::size_t flat = 0;  // First element of the tensor in the flat range.
  std::size_t server = 0;
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const std::size_t end = flat + inventory[id].elements();
    for (std::size_t begin = flat; begin < end;) {
      while (total * (server + 1) / servers <= begin) ++server;
      const std::size_t stop = std::min(end, total * (server + 1) / servers);
      shards.push_back({id, begin - flat, stop - flat, static_cast<int>(server)});
      begin = stop;
    }
    flat = end;
  }
  return shards;
}

}  // namespace steelyard::ps
