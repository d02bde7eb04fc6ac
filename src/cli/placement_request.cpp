#include "src/cli/placement_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/cli/placement_settings.hpp"
#include "src/model/inventory_file.hpp"
#include "src/model/model.hpp"

namespace steelyard::cli {
namespace {

constexpr std::string_view kExplicit = "explicit";
constexpr std::string_view kReplay = "replay:";
constexpr double kShareAmongMany = 0.05;

Expected<Inventory> inventory_of(std::string_view model) {
  if (model.starts_with(kReplay)) model.remove_prefix(kReplay.size());
  if (is_model_kind(model.substr(0, model.find(':')))) {
    auto spec = describe_model(model);
    if (!spec) return spec.error();
    return std::move(spec.value().inventory);
  }
  auto file = read_inventory(model);
  std::error_code error;
  if (!file && !std::filesystem::exists(model, error))
    return Error{file.error().message + ", or a built-in: lenet, lenet-wide:K, mlp:D0-D1-..., video_tagger"};
  if (!file) return file.error();
  return std::move(file.value().inventory);
}

/// Splits at commas, but not in the file of explicit:FILE. Each name once.
Expected<std::vector<std::string>> names_of(std::string_view text) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (bool more = true; more;) {
    const std::size_t comma = text.starts_with("explicit:") ? std::string_view::npos : text.find(',');
    const std::string_view name = text.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
    if (name == "all") {
      for (const std::string& one : all_placements()) add(one);
      continue;
    }
    if (auto known = ps::find_placement(name); !known) return Error{known.error().message + ", or all"};
    add(std::string(name));
  }
  return names;
}

Status check_one_alone(const Options& options, std::size_t count) {
  if (count == 1) return success();
  for (const char* option : {"write", "explain"}) {
    const std::string& value = options.text(option);
    if (value.empty() || value == "false") continue;
    return Error{fmt::format("--{} goes with one placement, and {} are asked for; give --placement NAME",
                             option, count)};
  }
  return success();
}

/// One output can be standard output.
Status check_outputs(const Options& options) {
  const char* first = nullptr;
  for (const char* option : {"json", "csv", "write"}) {
    if (options.text(option) != "-") continue;
    if (first != nullptr)
      return Error{fmt::format("--{} - and --{} - would share standard output; give one of them a file",
                               first, option)};
    first = option;
  }
  return success();
}

/// Copies that a server keeps of its parameters: values, optimizer state.
Expected<std::size_t> memory_copies(const Options& options) {
  if (options.given("optimizer") && options.text("server-memory").empty())
    return Error{"--optimizer has no effect here: it goes with --server-memory"};
  auto optimizer = make_optimizer(options.text("optimizer"), {});
  if (!optimizer) return optimizer.error();
  return 1 + optimizer.value()->state_per_element();
}

}  // namespace

std::vector<std::string> all_placements() {
  std::vector<std::string> names;
  for (const std::string_view name : ps::placement_names())
    if (name != kExplicit) names.emplace_back(name);
  return names;
}

Expected<PlacementTask> placement_task(const Options& options) {
  if (options.text("servers").empty())
    return Error{"--servers must be given: how many servers the model is placed on"};
  auto names = names_of(options.text("placement"));
  if (!names) return names.error();
  PlacementTask task;
  task.names = std::move(names).value();
  if (auto good = check_one_alone(options, task.names.size()); !good) return good.error();
  if (auto good = check_outputs(options); !good) return good.error();
  auto placement = placement_settings(options, task.names);
  if (!placement) return placement.error();
  auto copies = memory_copies(options);
  if (!copies) return copies.error();
  task.options = std::move(placement).value();
  task.options.servers = static_cast<int>(options.integer("servers"));
  task.options.memory_copies = copies.value();
  if (task.names.size() > 1) task.options = among_many(options, std::move(task.options));
  task.bundle_bytes = static_cast<std::size_t>(options.integer("bundle-bytes"));
  task.piece_bytes = static_cast<std::size_t>(options.integer("piece-bytes"));
  task.model = options.target;
  auto inventory = inventory_of(options.target);
  if (!inventory) return inventory.error();
  task.inventory = std::move(inventory).value();
  if (task.inventory.empty()) return Error{fmt::format("model '{}' has no tensors to place", task.model)};
  return task;
}

ps::PlacementOptions among_many(const Options& options, ps::PlacementOptions placement) {
  if (!options.given("time-limit")) placement.time_limit_s *= kShareAmongMany;
  return placement;
}

}  // namespace steelyard::cli
