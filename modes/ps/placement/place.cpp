#include <algorithm>
#include <cmath>
#include <limits>

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {
namespace {

constexpr std::size_t kMostServersTried = 1024;
constexpr std::size_t kMostTried = 100'000'000;  ///< Servers times tensors, over all that is tried.

Status check_counts(const PlacementOptions& options) {
  const auto servers = static_cast<std::size_t>(options.servers);
  const std::string of = " for " + std::to_string(servers) + (servers == 1 ? " server" : " servers");
  if (!options.weights.empty() && options.weights.size() != servers)
    return Error{"--server-weight gives " + std::to_string(options.weights.size()) + " numbers" + of +
                 "; give one for each"};
  if (options.memory.size() > 1 && options.memory.size() != servers)
    return Error{"--server-memory gives " + std::to_string(options.memory.size()) + " numbers" + of +
                 "; give one for each, or one for all"};
  return success();
}

Status check_options(const Inventory& inventory, const PlacementOptions& options) {
  if (options.servers < 1)
    return Error{"a placement on " + std::to_string(options.servers) + " servers: must be at least 1"};
  if (auto good = check_counts(options); !good) return good.error();
  for (const double weight : options.weights)
    if (!(weight >= 1e-6 && weight <= 1e6))
      return Error{"--server-weight " + std::to_string(weight) + ": must be from 0.000001 to 1,000,000"};
  if (options.memory_copies == 0 || options.min_shard_bytes == 0 || options.max_shard_bytes == 0 ||
      options.slice_elements == 0 || options.block_elements == 0 || options.mixed_bound == 0)
    return Error{"sizes of shards, slices and blocks, --mixed-bound and copies must be at least 1"};
  if (inventory.size() > std::numeric_limits<TensorId>::max())
    return Error{std::to_string(inventory.size()) + " tensors: a placement takes at most 2^32 - 1"};
  std::size_t total = 0;
  constexpr std::size_t kMost = std::size_t{1} << 60U;
  for (const Tensor& tensor : inventory)
    if (tensor.elements() == 0 || tensor.bytes() > kMost || (total += tensor.bytes()) > kMost)
      return Error{"tensor '" + tensor.name + "' has no elements, or the model more than 2^60 bytes"};
  return success();
}

/// @return the first server whose memory does not hold what it is given.
std::optional<int> overfull(const Inventory& inventory, const Placed& placed,
                            const PlacementOptions& options) {
  if (options.memory.empty()) return std::nullopt;
  const Servers servers(options);
  const auto bytes = server_bytes(inventory, placed.shards, options.servers);
  for (int s = 0; s < options.servers; ++s)
    if (bytes[static_cast<std::size_t>(s)] > servers.capacity(s)) return s;
  return std::nullopt;
}

bool too_many(const Placed& placed) { return placed.shards.size() >= kMostShards; }

/// Tries more and more servers like these. @return what to do, as the end of a sentence.
std::string remedy(Placement* strategy, const Inventory& inventory, PlacementOptions options) {
  constexpr double kShortSearch = 0.01;
  const bool alike = options.weights.empty() && std::ranges::all_of(options.memory, [&](std::size_t bytes) {
                       return bytes == options.memory.front();
                     });
  if (!alike) return "give more servers, or more memory";
  options.memory.resize(1);
  options.time_limit_s = std::min(options.time_limit_s, kShortSearch);
  const std::size_t total = total_bytes(inventory);
  const std::size_t capacity = Servers(options).capacity(0);
  std::size_t servers = static_cast<std::size_t>(options.servers);
  if (capacity > 0) servers = std::max(servers, (total - 1) / capacity + 1);
  for (std::size_t work = 0; capacity > 0 && servers <= kMostServersTried && work < kMostTried; ++servers) {
    work += servers * inventory.size();
    options.servers = static_cast<int>(servers);
    if (auto more = strategy(inventory, options);
        more && !too_many(more.value()) && !overfull(inventory, more.value(), options))
      return "at least " + std::to_string(servers) + " servers like these would hold the model";
  }
  return "no number of servers up to " + std::to_string(capacity > 0 ? servers - 1 : kMostServersTried) +
         " would do with this placement: give more memory, or a placement that cuts tensors";
}

Error too_little_memory(std::string_view name, Placement* strategy, const Inventory& inventory,
                        const Placed& placed, int server, const PlacementOptions& options) {
  const auto s = static_cast<std::size_t>(server);
  const std::size_t bytes = server_bytes(inventory, placed.shards, options.servers)[s];
  const std::size_t limit = options.memory[options.memory.size() == 1 ? 0 : s];
  return {"placement '" + std::string(name) + "' needs " + std::to_string(bytes * options.memory_copies) +
          " bytes of memory on server " + std::to_string(server) +
          " (parameters and optimizer state), where --server-memory allows " + std::to_string(limit) + "; " +
          remedy(strategy, inventory, options)};
}

}  // namespace

Expected<Placed> place(std::string_view name, const Inventory& inventory, const PlacementOptions& options) {
  const auto strategy = find_placement(name);
  if (!strategy) return strategy.error();
  if (auto good = check_options(inventory, options); !good) return good.error();
  if (inventory.empty()) return Placed{};
  auto placed = strategy.value()(inventory, options);
  if (!placed) return placed;
  if (too_many(placed.value()))
    return Error{"placement '" + std::string(name) +
                 "' cuts the model into 2^24 shards or more: give larger " + "shards, or fewer servers"};
  if (const auto server = overfull(inventory, placed.value(), options))
    return too_little_memory(name, strategy.value(), inventory, placed.value(), *server, options);
  return placed;
}

}  // namespace steelyard::ps
