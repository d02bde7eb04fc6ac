#include "src/cli/placement_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace steelyard::cli {
namespace {

constexpr std::string_view kExplicit = "explicit:";

/// An option, and the placements that heed it; two at most.
struct Heeded {
  const char* option;
  std::string_view placement;
  std::string_view other;
};
constexpr Heeded kHeeded[] = {
    {"placement-offset", "round_robin", ""},
    {"placement-hash", "hash", "byteps"},
    {"time-limit", "optimal", ""},
    {"fixed-shards", "tf_fixed_shards", ""},
    {"min-shard-bytes", "tf_min_size", ""},
    {"max-shard-bytes", "tf_max_size", ""},
    {"max-shards", "tf_min_size", "tf_max_size"},
    {"slice-elements", "p3", ""},
    {"big-array-elements", "mxnet", ""},
    {"block-elements", "paddle", ""},
    {"part-bytes", "byteps", ""},
    {"mixed-workers", "byteps", ""},
    {"mixed-bound", "byteps", ""},
};

Status check_heeded(const Options& options, std::span<const std::string> names) {
  for (const Heeded& one : kHeeded) {
    // The fallback of an explicit one may be any.
    const auto heeds = [&one](const std::string& name) {
      return name == one.placement || name == one.other || name.starts_with(kExplicit);
    };
    if (!options.given(one.option) || std::ranges::any_of(names, heeds)) continue;
    return Error{fmt::format("--{} has no effect here: it goes with --placement {}{}{}", one.option,
                             one.placement, one.other.empty() ? "" : " or ", one.other)};
  }
  return success();
}

Expected<std::string> read_rules(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30U;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error{fmt::format("--placement 'explicit:{}': there is no such file", path)};
  if (const auto bytes = std::filesystem::file_size(path, error); error || bytes > kMostBytes)
    return Error{fmt::format("--placement 'explicit:{}': must be a file of at most 1 GiB", path)};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Error{fmt::format("--placement 'explicit:{}': the file cannot be read", path)};
  return text.str();
}

std::size_t size(const Options& options, std::string_view name) {
  return static_cast<std::size_t>(options.integer(name));
}

}  // namespace

Expected<ps::PlacementOptions> placement_settings(const Options& options,
                                                  std::span<const std::string> names) {
  if (auto good = check_heeded(options, names); !good) return good.error();
  ps::PlacementOptions placement;
  placement.offset = size(options, "placement-offset");
  placement.weights = options.reals("server-weight");
  placement.memory = options.sizes("server-memory");
  placement.hash = options.text("placement-hash");
  placement.fixed_shards = size(options, "fixed-shards");
  placement.min_shard_bytes = size(options, "min-shard-bytes");
  placement.max_shard_bytes = size(options, "max-shard-bytes");
  placement.max_shards = size(options, "max-shards");
  placement.slice_elements = size(options, "slice-elements");
  placement.big_array_elements = size(options, "big-array-elements");
  placement.block_elements = size(options, "block-elements");
  placement.part_bytes = size(options, "part-bytes");
  placement.mixed_workers = size(options, "mixed-workers");
  placement.mixed_bound = size(options, "mixed-bound");
  placement.time_limit_s = options.real("time-limit");
  for (const std::string& name : names) {
    if (name == "explicit")
      return Error{"--placement explicit: say the file too, as explicit:FILE with lines PATTERN SERVER"};
    if (!name.starts_with(kExplicit)) continue;
    auto rules = read_rules(name.substr(kExplicit.size()));
    if (!rules) return rules.error();
    placement.rules = std::move(rules).value();
  }
  return placement;
}

}  // namespace steelyard::cli
