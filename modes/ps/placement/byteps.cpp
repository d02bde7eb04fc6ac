#include <algorithm>

#include "modes/ps/placement/hashes.hpp"
#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {
namespace {

/// BytePS' mixed mode: the first servers have machines of their own, the last `shared` share theirs with a
/// worker and get less.
class Mixed {
 public:
  Mixed(const PlacementOptions& options, KeyHash* hash)
      : hash_(hash),
        bound_(options.mixed_bound),
        shared_(options.mixed_workers),
        dedicated_(static_cast<std::uint64_t>(options.servers) - shared_) {
    // r < ratio B with ratio = 2 k (n - 1) / (n (n + k) - 2 k), multiplied out.
    numerator_ = static_cast<Wide>(2) * dedicated_ * (shared_ - 1);
    whole_ = static_cast<Wide>(shared_) * (shared_ + dedicated_);
    less_ = static_cast<Wide>(2) * dedicated_;
  }

  bool ratio_at_most_one() const { return whole_ > less_ && numerator_ <= whole_ - less_; }

  int server(std::uint64_t key) const {
    const std::uint64_t r = hash_(key) % bound_;
    if (r * (whole_ - less_) < numerator_ * bound_) return static_cast<int>(hash_(r) % dedicated_);
    return static_cast<int>(dedicated_ + hash_(r) % shared_);
  }

 private:
  KeyHash* hash_;
  std::uint64_t bound_;
  std::uint64_t shared_;
  std::uint64_t dedicated_;
  Wide numerator_;
  Wide whole_;
  Wide less_;
};

Status check_mixed(const PlacementOptions& options, KeyHash* hash) {
  const auto servers = static_cast<std::size_t>(options.servers);
  const std::string asked = "--mixed-workers " + std::to_string(options.mixed_workers);
  if (options.mixed_workers > servers)
    return Error{asked + ": only servers can share a machine with a worker, so at most " +
                 std::to_string(servers)};
  if (options.mixed_bound < servers)
    return Error{"--mixed-bound " + std::to_string(options.mixed_bound) +
                 ": must be at least the number of servers, " + std::to_string(servers)};
  if (!Mixed(options, hash).ratio_at_most_one())
    return Error{asked + " of " + std::to_string(servers) +
                 " servers: BytePS' ratio of the dedicated servers, 2k(n-1)/(n(n+k)-2k), must be from 0 to "
                 "1; give more servers that share, or fewer dedicated ones"};
  return success();
}

}  // namespace

// Jiang et al., A Unified Architecture for Accelerating Distributed DNN Training (2020), and its code: parts
// of a fixed size, each by the hash of its key.
Expected<Placed> place_byteps(const Inventory& inventory, const PlacementOptions& options) {
  const auto hash = find_key_hash(options.hash);
  if (!hash) return hash.error();
  const bool mixed = options.mixed_workers > 0;
  if (mixed)
    if (auto good = check_mixed(options, hash.value()); !good) return good.error();
  const Mixed split(options, hash.value());
  Placed placed;
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const std::size_t part = std::max<std::size_t>(1, options.part_bytes / element_bytes(inventory[id]));
    std::uint64_t key = std::uint64_t{id} << 16U;
    for (Cutter cutter(id, inventory[id], placed.shards); cutter.left() > 0; ++key)
      cutter.give(mixed ? split.server(key)
                        : static_cast<int>(hash.value()(key) % static_cast<std::uint64_t>(options.servers)),
                  part);
  }
  return placed;
}

}  // namespace steelyard::ps
