#include "src/cli/placement_figures.hpp"

#include <algorithm>
#include <numeric>

#include "modes/ps/message_count.hpp"
#include "modes/ps/placement/load.hpp"

namespace steelyard::cli {
namespace {

std::size_t sum(const std::vector<std::size_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::size_t{0});
}

void count_shards(const std::vector<ps::Shard>& shards, PlacementFigures& figures) {
  figures.shard_count = shards.size();
  for (std::size_t i = 0; i < shards.size(); ++i) {
    ++figures.server_shards[static_cast<std::size_t>(shards[i].server)];
    const bool first = i == 0 || shards[i].tensor != shards[i - 1].tensor;
    if (first && i + 1 < shards.size() && shards[i].tensor == shards[i + 1].tensor) ++figures.cut_tensors;
  }
}

}  // namespace

double PlacementTask::weights() const {
  return options.weights.empty() ? static_cast<double>(servers())
                                 : std::accumulate(options.weights.begin(), options.weights.end(), 0.0);
}

std::size_t PlacementTask::bytes() const { return ps::total_bytes(inventory); }

double PlacementTask::fair_share(std::size_t server) const {
  return static_cast<double>(bytes()) * weight(server) / weights();
}

std::size_t PlacementFigures::most_messages() const {
  return server_messages.empty() ? 0 : std::ranges::max(server_messages);
}

double whole_tensor_bound(const PlacementTask& task) {
  std::size_t largest = 0;
  for (const Tensor& tensor : task.inventory) largest = std::max(largest, tensor.bytes());
  double heaviest = 0.0;
  for (std::size_t s = 0; s < task.servers(); ++s) heaviest = std::max(heaviest, task.weight(s));
  const double share = static_cast<double>(task.bytes()) * heaviest / task.weights();
  return share > 0.0 ? std::max(1.0, static_cast<double>(largest) / share) : 1.0;
}

PlacementFigures figures_of(const PlacementTask& task, const std::string& name, bool keep_shards) {
  PlacementFigures figures;
  figures.name = name;
  auto placed = ps::place(name, task.inventory, task.options);
  if (!placed) {
    figures.refused = placed.error().message;
    return figures;
  }
  std::vector<ps::Shard>& shards = placed.value().shards;
  figures.optimum = placed.value().optimum;
  figures.server_bytes = ps::server_bytes(task.inventory, shards, task.options.servers);
  figures.server_shards.resize(task.servers());
  count_shards(shards, figures);
  figures.server_messages =
      ps::pushed_messages(shards, task.options.servers, task.bundle_bytes, task.piece_bytes);
  figures.messages = sum(figures.server_messages);
  std::vector<double> loads;
  for (std::size_t s = 0; s < task.servers(); ++s)
    loads.push_back(static_cast<double>(figures.server_bytes[s]) / task.weight(s));
  figures.imbalance = trace::imbalance(loads);
  figures.fullest = static_cast<std::size_t>(std::ranges::max_element(loads) - loads.begin());
  // What an even placement would give, not the mean of the loads: these differ where weights do.
  const double most = static_cast<double>(figures.server_bytes[figures.fullest]);
  figures.imbalance.max_over_mean = most / task.fair_share(figures.fullest);
  figures.imbalance.percent_imbalance = 100.0 * (figures.imbalance.max_over_mean - 1.0);
  if (keep_shards) figures.shards = std::move(shards);
  return figures;
}

}  // namespace steelyard::cli
