#include "modes/ps/placement/wrap.hpp"

#include <algorithm>
#include <numeric>

namespace steelyard::ps {
namespace {

/// Where the last shares have been rounded down, the last elements go wherever there is room.
void give_rest(Cutter& cutter, std::size_t bytes, Servers& servers) {
  while (cutter.left() > 0) {
    const int server = servers.least_loaded(bytes);
    const std::size_t fits = std::max<std::size_t>(1, servers.room(server) / bytes);
    const std::size_t count = std::min(cutter.left(), fits);
    cutter.give(server, count);
    servers.add(server, count * bytes);
  }
}

}  // namespace

void wrap(const Inventory& inventory, std::span<const std::size_t> order, std::size_t total, Servers& servers,
          std::vector<Shard>& shards) {
  const std::vector<std::size_t> share = servers.shares(total);
  int server = 0;
  std::size_t carried = 0;  // Bytes that servers before lack for want of whole elements.
  const auto most = [&] {
    const std::size_t wanted = share[static_cast<std::size_t>(server)] + carried;
    return std::min(wanted, std::max(servers.capacity(server), wanted - carried));
  };
  for (const std::size_t tensor : order) {
    const std::size_t bytes = element_bytes(inventory[tensor]);
    Cutter cutter(static_cast<TensorId>(tensor), inventory[tensor], shards);
    while (cutter.left() > 0 && server < servers.count()) {
      const std::size_t room = most() - std::min(most(), servers.load(server));
      const std::size_t count = std::min(cutter.left(), room / bytes);
      cutter.give(server, count);
      servers.add(server, count * bytes);
      if (cutter.left() == 0) break;
      carried = most() - std::min(most(), servers.load(server));
      ++server;
    }
    give_rest(cutter, bytes, servers);
  }
}

// McNaughton (1959), for machines that may interrupt a job.
Expected<Placed> place_wrap(const Inventory& inventory, const PlacementOptions& options) {
  std::vector<std::size_t> order(inventory.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Servers servers(options);
  Placed placed;
  wrap(inventory, order, total_bytes(inventory), servers, placed.shards);
  return placed;
}

}  // namespace steelyard::ps
