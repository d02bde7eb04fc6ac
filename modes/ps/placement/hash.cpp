#include "modes/ps/placement/hashes.hpp"
#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

// Tensor by the hash of its name, as key-value stores spread keys.
Expected<Placed> place_hash(const Inventory& inventory, const PlacementOptions& options) {
  if (options.hash != "djb2" && options.hash != "sdbm") {
    if (auto known = find_key_hash(options.hash); !known) return known.error();
    return Error{"--placement-hash '" + options.hash +
                 "' hashes numbers, and --placement hash hashes names; choose one of: djb2, sdbm"};
  }
  const auto servers = static_cast<std::uint64_t>(options.servers);
  std::vector<int> owner_of;
  for (const Tensor& tensor : inventory)
    owner_of.push_back(
        static_cast<int>((options.hash == "djb2" ? djb2(tensor.name) : sdbm(tensor.name)) % servers));
  return whole_tensors(inventory, owner_of);
}

}  // namespace steelyard::ps
