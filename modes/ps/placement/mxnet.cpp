#include <cmath>

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// MXNet's kvstore_dist EncodeDefaultKey: small tensors whole by a multiple of their number (in 64 bits; the
// original overflows), big ones in S parts that end at multiples of n / S, rounded half away from zero.
Expected<Placed> place_mxnet(const Inventory& inventory, const PlacementOptions& options) {
  constexpr std::uint64_t kSpread = 9973;
  const auto servers = static_cast<std::uint64_t>(options.servers);
  Placed placed;
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const std::size_t n = inventory[id].elements();
    Cutter cutter(id, inventory[id], placed.shards);
    if (n < options.big_array_elements) {
      cutter.give(static_cast<int>(id * kSpread % servers), n);
      continue;
    }
    const double part = static_cast<double>(n) / static_cast<double>(servers);
    for (std::uint64_t p = 0; p < servers; ++p) {
      const std::size_t end =
          p + 1 == servers ? n : static_cast<std::size_t>(std::round(part * static_cast<double>(p + 1)));
      cutter.give(static_cast<int>(p), end - (n - cutter.left()));
    }
  }
  return placed;
}

}  // namespace steelyard::ps
