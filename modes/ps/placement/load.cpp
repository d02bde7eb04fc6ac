#include "modes/ps/placement/load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace steelyard::ps {
namespace {

constexpr double kMillionths = 1e6;

}  // namespace

std::size_t total_bytes(const Inventory& inventory) {
  std::size_t total = 0;
  for (const Tensor& tensor : inventory) total += tensor.bytes();
  return total;
}

std::vector<std::size_t> largest_first_order(const Inventory& inventory) {
  std::vector<std::size_t> bytes(inventory.size());
  std::ranges::transform(inventory, bytes.begin(), &Tensor::bytes);
  std::vector<std::size_t> order(inventory.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return bytes[i]; });
  return order;
}

Placed whole_tensors(const Inventory& inventory, std::span<const int> owner_of) {
  Placed placed;
  placed.shards.reserve(inventory.size());
  for (TensorId id = 0; id < inventory.size(); ++id)
    placed.shards.push_back({id, 0, inventory[id].elements(), owner_of[id]});
  return placed;
}

std::vector<std::size_t> server_bytes(const Inventory& inventory, std::span<const Shard> shards,
                                      int servers) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(servers));
  for (const Shard& shard : shards)
    bytes[static_cast<std::size_t>(shard.server)] +=
        shard.elements() * element_bytes(inventory[shard.tensor]);
  return bytes;
}

Servers::Servers(const PlacementOptions& options)
    : weight_(index(options.servers), 1),
      capacity_(index(options.servers), std::numeric_limits<std::size_t>::max()),
      load_(index(options.servers)) {
  for (std::size_t s = 0; s < load_.size(); ++s) {
    if (!options.weights.empty())
      weight_[s] = static_cast<std::size_t>(std::llround(options.weights[s] * kMillionths));
    if (!options.memory.empty())
      capacity_[s] = options.memory[options.memory.size() == 1 ? 0 : s] / options.memory_copies;
  }
}

std::size_t Servers::room(int server) const {
  return capacity(server) - std::min(load(server), capacity(server));
}

int Servers::lightest(std::size_t bytes, bool with_room) const {
  int best = -1;
  for (int s = 0; s < count(); ++s)
    if ((!with_room || room(s) >= bytes) && (best < 0 || lighter(s, best))) best = s;
  return best;
}

int Servers::least_loaded(std::size_t bytes) const {
  const int roomy = lightest(bytes, true);
  return roomy >= 0 ? roomy : lightest(bytes, false);
}

std::vector<std::size_t> Servers::shares(std::size_t total) const {
  std::vector<std::size_t> share(load_.size());
  std::vector<std::size_t> free(load_.size());
  std::iota(free.begin(), free.end(), std::size_t{0});
  for (std::size_t left = total; !free.empty();) {
    Wide weights = 0;
    for (const std::size_t s : free) weights += weight_[s];
    Wide passed = 0;
    for (const std::size_t s : free) {  // Ends at floor(left x weights so far / all weights).
      const auto begin = static_cast<std::size_t>(left * passed / weights);
      passed += weight_[s];
      share[s] = static_cast<std::size_t>(left * passed / weights) - begin;
    }
    const auto full =
        std::partition(free.begin(), free.end(), [&](std::size_t s) { return share[s] <= capacity_[s]; });
    if (full == free.end() || full == free.begin()) break;
    std::for_each(full, free.end(), [&](std::size_t s) { left -= share[s] = capacity_[s]; });
    free.erase(full, free.end());
    std::ranges::sort(free);
  }
  return share;
}

double Servers::max_over_mean() const {
  double most = 0.0;
  double weights = 0.0;
  double bytes = 0.0;
  for (std::size_t s = 0; s < load_.size(); ++s) {
    most = std::max(most, static_cast<double>(load_[s]) / static_cast<double>(weight_[s]));
    weights += static_cast<double>(weight_[s]);
    bytes += static_cast<double>(load_[s]);
  }
  return bytes > 0.0 ? most * weights / bytes : 1.0;
}

double max_over_mean(const Inventory& inventory, std::span<const Shard> shards,
                     const PlacementOptions& options) {
  Servers servers(options);
  const auto bytes = server_bytes(inventory, shards, options.servers);
  for (int s = 0; s < options.servers; ++s) servers.add(s, bytes[static_cast<std::size_t>(s)]);
  return servers.max_over_mean();
}

void Cutter::give(int server, std::size_t elements) {
  const std::size_t count = std::min(elements, left());
  if (count == 0) return;
  if (shards_.size() >= kMostShards) {
    next_ = elements_;
    return;
  }
  shards_.push_back({tensor_, next_, next_ + count, server});
  next_ += count;
}

}  // namespace steelyard::ps
