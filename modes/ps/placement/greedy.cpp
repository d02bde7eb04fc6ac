#include <numeric>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

// TensorFlow's GreedyLoadBalancingStrategy over byte sizes.
std::vector<Shard> place_greedy(const Inventory& inventory, const PlacementOptions& options) {
  std::vector<std::size_t> order(inventory.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return whole_tensors(inventory, least_loaded(inventory, order, options.servers));
}

}  // namespace steelyard::ps
