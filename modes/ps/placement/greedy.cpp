#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// TensorFlow's GreedyLoadBalancingStrategy over byte sizes. Servers without room are passed over.
Expected<Placed> place_greedy(const Inventory& inventory, const PlacementOptions& options) {
  Servers servers(options);
  std::vector<int> owner_of;
  for (const Tensor& tensor : inventory) {
    owner_of.push_back(servers.least_loaded(tensor.bytes()));
    servers.add(owner_of.back(), tensor.bytes());
  }
  return whole_tensors(inventory, owner_of);
}

}  // namespace steelyard::ps
