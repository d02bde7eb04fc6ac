#include "src/trace/resources.hpp"

#include <limits>
#include <set>

namespace steelyard::trace {

namespace {
constexpr double kSecondsPerHour = 3600.0;
}

Resources resources_of(std::span<const int> servers, std::span<const int> workers,
                       std::span<const int> node_of_rank, const std::optional<Price>& price) {
  Resources made;
  made.servers = static_cast<int>(servers.size());
  made.workers = static_cast<int>(workers.size());
  std::set<int> nodes;
  bool known = true;
  for (const auto ranks : {servers, workers})
    for (const int rank : ranks) {
      const bool placed = rank >= 0 && static_cast<std::size_t>(rank) < node_of_rank.size();
      if (placed) nodes.insert(node_of_rank[static_cast<std::size_t>(rank)]);
      known = known && placed;
    }
  if (known) made.nodes = static_cast<int>(nodes.size());
  if (price) made.price = price->server * made.servers + price->worker * made.workers;
  return made;
}

double images_per_s_per_node(double images_per_s, const Resources& resources) {
  return resources.nodes > 0 ? images_per_s / resources.nodes : std::numeric_limits<double>::quiet_NaN();
}

double images_per_price(double images_per_s, const Resources& resources) {
  return resources.price && *resources.price > 0.0 ? images_per_s * kSecondsPerHour / *resources.price
                                                   : std::numeric_limits<double>::quiet_NaN();
}

Scaling scaling(int workers_a, std::int64_t batch_a, int workers_b, std::int64_t batch_b) {
  if (workers_a == workers_b) return Scaling::none;
  if (batch_a == batch_b) return Scaling::strong;
  // Batches come from files too, whose products may not fit into 64 bits.
  const auto share_a = static_cast<long double>(batch_a) * workers_b;
  const auto share_b = static_cast<long double>(batch_b) * workers_a;
  return share_a == share_b ? Scaling::weak : Scaling::mixed;
}

}  // namespace steelyard::trace
