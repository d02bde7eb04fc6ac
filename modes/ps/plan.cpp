#include "modes/ps/plan.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "src/model/parameters.hpp"

namespace steelyard::ps {
namespace {

class Planner {
 public:
  Planner(const Inventory& inventory, std::vector<Shard> shards, int servers, std::size_t bundle_bytes,
          bool headers_apart)
      : inventory_(inventory),
        limit_(bundle_bytes),
        headers_apart_(headers_apart),
        open_(static_cast<std::size_t>(servers)) {
    plan_.shards = std::move(shards);
    plan_.bundles_of_tensor.resize(inventory.size());
    plan_.bundles_of_server.resize(static_cast<std::size_t>(servers));
    plan_.layout.begin.resize(inventory.size());
  }

  Plan make() {
    for (std::size_t tensor = inventory_.size(); tensor-- > 0;) add_tensor(static_cast<TensorId>(tensor));
    for (Bundle& bundle : open_) close(bundle);
    for (BundleId id = 0; id < plan_.bundles.size(); ++id) index(id);
    return std::move(plan_);
  }

 private:
  void add_tensor(TensorId tensor) {
    const auto first = static_cast<ShardId>(
        std::ranges::lower_bound(plan_.shards, tensor, {}, &Shard::tensor) - plan_.shards.begin());
    const auto last = static_cast<ShardId>(
        std::ranges::upper_bound(plan_.shards, tensor, {}, &Shard::tensor) - plan_.shards.begin());
    if (last - first == 1)
      add_whole(first);
    else
      add_pieces(tensor, first, last - first);
  }

  void add_whole(ShardId id) {
    const Shard& shard = plan_.shards[id];
    Bundle& bundle = open_[static_cast<std::size_t>(shard.server)];
    if (!bundle.shards.empty() && bundle.bytes() + shard.elements() * sizeof(float) > limit_) close(bundle);
    bundle.server = shard.server;
    bundle.shards.push_back(id);
    bundle.elements += shard.elements();
    if (bundle.bytes() >= limit_) close(bundle);
  }

  /// Lays a finished bundle of whole tensors into the arena: header, then the tensors.
  void close(Bundle& bundle) {
    if (bundle.shards.empty()) return;
    std::ranges::stable_sort(bundle.shards, std::greater{},
                             [this](ShardId id) { return plan_.shards[id].elements(); });
    bundle.header_begin = reserve(kHeaderElements);
    bundle.begin = bundle.header_begin + kHeaderElements;
    std::size_t next = bundle.begin;
    for (const ShardId id : bundle.shards) {
      plan_.layout.begin[plan_.shards[id].tensor] = next;
      next += plan_.shards[id].elements();
    }
    plan_.layout.elements = next;
    bundle.piece = headers_apart_;
    plan_.bundles.push_back(std::exchange(bundle, {}));
  }

  void add_pieces(TensorId tensor, ShardId first, ShardId count) {
    const std::size_t begin = reserve(inventory_[tensor].elements());
    plan_.layout.begin[tensor] = begin;
    for (ShardId id = first; id < first + count; ++id) {
      const Shard& shard = plan_.shards[id];
      plan_.bundles.push_back(
          {shard.server, {id}, true, shard.elements(), reserve(kHeaderElements), begin + shard.begin});
    }
  }

  /// @return the begin of `elements` new floats on a cache line.
  std::size_t reserve(std::size_t elements) {
    const std::size_t begin = whole_lines<float>(plan_.layout.elements);
    plan_.layout.elements = begin + elements;
    return begin;
  }

  void index(BundleId id) {
    const Bundle& bundle = plan_.bundles[id];
    plan_.bundles_of_server[static_cast<std::size_t>(bundle.server)].push_back(id);
    for (const ShardId shard : bundle.shards)
      plan_.bundles_of_tensor[plan_.shards[shard].tensor].push_back(id);
  }

  const Inventory& inventory_;
  std::size_t limit_;
  bool headers_apart_;
  std::vector<Bundle> open_;  ///< [servers] the bundle that the server's next whole tensor joins.
  Plan plan_;
};

}  // namespace

std::vector<Shard> cut_large(const std::vector<Shard>& shards, std::size_t piece_bytes) {
  const std::size_t most = piece_bytes / kCacheLine * kPerLine<float>;
  std::vector<Shard> pieces;
  for (const Shard& shard : shards) {
    const bool fits = shard.elements() * sizeof(float) <= piece_bytes;
    const std::size_t count = fits ? 1 : (shard.elements() + most - 1) / most;
    const std::size_t length = whole_lines<float>((shard.elements() + count - 1) / count);
    for (std::size_t begin = shard.begin; begin < shard.end; begin += length)
      pieces.push_back({shard.tensor, begin, std::min(begin + length, shard.end), shard.server});
  }
  return pieces;
}

Plan make_plan(const Inventory& inventory, std::vector<Shard> shards, int servers, std::size_t bundle_bytes,
               bool headers_apart) {
  return Planner(inventory, std::move(shards), servers, bundle_bytes, headers_apart).make();
}

void initial_values(const Inventory& inventory, const Plan& plan, const Bundle& bundle, std::uint64_t seed,
                    std::span<float> values) {
  for (const ShardId id : bundle.shards) {
    const Shard& shard = plan.shards[id];
    steelyard::initial_values(inventory, shard.tensor, seed, shard.begin, values.first(shard.elements()));
    values = values.subspan(shard.elements());
  }
}

}  // namespace steelyard::ps
