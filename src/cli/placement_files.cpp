#include "src/cli/placement_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "modes/ps/placement/explicit.hpp"
#include "src/cli/placement_report.hpp"

namespace steelyard::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestListed = 10;

/// Names come from files and need not be UTF-8, as JSON must.
std::string utf8(const std::string& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

json placement_json(const PlacementFigures& one, double bound) {
  json out = {{"name", utf8(one.name)},
              {"server_bytes", one.server_bytes},
              {"server_shards", one.server_shards},
              {"shards", one.shard_count},
              {"server_messages", one.server_messages},
              {"messages", one.messages},
              {"cut_tensors", one.cut_tensors},
              {"max_over_mean", one.imbalance.max_over_mean},
              {"cov", one.imbalance.cov},
              {"gini", one.imbalance.gini},
              {"percent_imbalance", one.imbalance.percent_imbalance},
              {"bound", bound},
              {"optimum", nullptr}};
  if (const auto& best = one.optimum)
    out["optimum"] = {
        {"load", best->load}, {"bound", best->bound}, {"gap", best->gap()}, {"proven", best->proven}};
  return out;
}

json largest_json(const PlacementTask& task, const PlacementFigures& figures) {
  json out = json::array();
  for (const TensorOwners& one : largest_tensors(task, figures, kLargestListed)) {
    const Tensor& tensor = task.inventory[one.tensor];
    out.push_back({{"name", utf8(tensor.name)},
                   {"shape", tensor.shape},
                   {"dtype", tensor.dtype},
                   {"bytes", tensor.bytes()},
                   {"servers", one.servers}});
  }
  return out;
}

}  // namespace

json placements_json(const PlacementTask& task, std::span<const PlacementFigures> placements,
                     const std::string& explanation) {
  json out = {{"model", utf8(task.model)},
              {"servers", task.servers()},
              {"tensors", task.inventory.size()},
              {"elements", total_elements(task.inventory)},
              {"bytes", task.bytes()},
              {"placements", json::array()},
              {"refused", json::array()},
              {"server_weights", nullptr},
              {"server_memory", nullptr},
              {"largest_tensors", nullptr},
              {"explanation", nullptr}};
  if (!task.options.weights.empty()) out["server_weights"] = task.options.weights;
  if (!task.options.memory.empty()) out["server_memory"] = task.options.memory;
  const double bound = whole_tensor_bound(task);
  for (const PlacementFigures& one : placements) {
    if (one.refused.empty())
      out["placements"].push_back(placement_json(one, bound));
    else
      out["refused"].push_back({{"name", utf8(one.name)}, {"reason", utf8(one.refused)}});
  }
  if (placements.size() == 1) out["largest_tensors"] = largest_json(task, placements.front());
  if (!explanation.empty()) out["explanation"] = utf8(explanation);
  return out;
}

std::string placements_csv(const PlacementTask& task, std::span<const PlacementFigures> placements) {
  std::string text = "placement,server,weight,bytes,share,shards,messages\n";
  for (const PlacementFigures& one : placements)
    for (std::size_t s = 0; s < one.server_bytes.size(); ++s)
      text += fmt::format("{},{},{},{},{:.8f},{},{}\n", one.name.substr(0, one.name.find(':')), s,
                          task.weight(s), one.server_bytes[s],
                          static_cast<double>(one.server_bytes[s]) / static_cast<double>(task.bytes()),
                          one.server_shards[s], one.server_messages[s]);
  return text;
}

Expected<std::string> explicit_text(const PlacementTask& task, const PlacementFigures& figures) {
  std::string text =
      fmt::format("# {} on {} servers\n", figures.name.substr(0, figures.name.find(':')), task.servers()) +
      ps::explicit_rules(task.inventory, figures.shards);
  ps::PlacementOptions options = task.options;
  options.rules = text;
  const auto again = ps::place("explicit", task.inventory, options);
  if (!again || again.value().shards != figures.shards)
    return Error{
        "--write: tensors of this model have names that an explicit placement cannot tell apart, such as "
        "names "
        "that differ only in control characters or in blanks at their ends; rename them"};
  return text;
}

}  // namespace steelyard::cli
