#include <algorithm>
#include <functional>
#include <numeric>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

// Graham's longest-processing-time rule (1969): the fullest server exceeds the optimum by at most a third.
std::vector<Shard> place_largest_first(const Inventory& inventory, const PlacementOptions& options) {
  std::vector<std::size_t> order(inventory.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return inventory[i].bytes(); });
  return whole_tensors(inventory, least_loaded(inventory, order, options.servers));
}

}  // namespace steelyard::ps
