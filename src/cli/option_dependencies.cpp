#include "src/cli/option_dependencies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace steelyard::cli {
namespace {

constexpr std::string_view kAnyEnd = "…";

constexpr OptionDependency kDependencies[] = {
    {"momentum", "optimizer", {"momentum", "nesterov"}},
    {"servers", "mode", {"ps"}},
    {"server-ranks", "mode", {"ps"}},
    {"placement", "mode", {"ps"}},
    {"consistency", "mode", {"ps"}},
    {"bundle-bytes", "mode", {"ps"}},
    {"piece-bytes", "mode", {"ps"}},
    {"transport", "mode", {"ps"}},
    {"aggregate", "mode", {"ps"}},
    {"server-weight", "mode", {"ps"}},
    {"server-memory", "mode", {"ps"}},
    {"lr-scale", "consistency", {"asp", "ssp"}, "none"},
    {"max-lag", "consistency", {"ssp"}},
    {"backup-workers", "consistency", {"bsp"}},
    {"staleness-policy", "consistency", {"asp", "ssp"}},
    {"max-staleness", "staleness-policy", {"drop"}},
    {"on-drop", "staleness-policy", {"drop", "cost_aware"}},
    {"compensation", "staleness-policy", {"compensate"}},
    {"collective", "mode", {"allreduce"}},
    {"sharded-optimizer", "mode", {"allreduce"}},
    {"bucket-mib", "mode", {"allreduce"}},
    {"first-bucket-mib", "mode", {"allreduce"}},
    {"compute-ms", "model", {"replay:…"}},
    {"compute-samples", "model", {"replay:…"}},
    {"compute-profile", "model", {"replay:…"}},
    {"compute", "model", {"replay:…"}},
    {"compute-grain-ms", "model", {"replay:…"}},
    {"data-dir", "data", {"fashion-mnist", "clips"}},
};

const OptionDependency* find(std::string_view option) {
  const auto* found = std::ranges::find(kDependencies, option, &OptionDependency::option);
  return found == std::end(kDependencies) ? nullptr : found;
}

bool matches(std::string_view value, std::string_view allowed) {
  if (!allowed.ends_with(kAnyEnd)) return !allowed.empty() && value == allowed;
  return value.starts_with(allowed.substr(0, allowed.size() - kAnyEnd.size()));
}

}  // namespace

std::span<const OptionDependency> option_dependencies() { return kDependencies; }

std::string lacks(std::string_view option, const ValueOf& value_of) {
  for (const auto* one = find(option); one != nullptr; one = find(one->on)) {
    const auto value = value_of(one->on);
    const auto& [first, second] = one->values;
    if (value && !matches(*value, first) && !matches(*value, second))
      return fmt::format("--{} {}{}{}", one->on, first, second.empty() ? "" : " or ", second);
  }
  return "";
}

std::vector<std::string> dependents(std::string_view name) {
  std::vector<std::string> all;
  if (name == "model") all.emplace_back("data");  // Which may be made for it.
  for (const OptionDependency& one : kDependencies)
    for (const auto* link = &one; link != nullptr; link = find(link->on))
      if (link->on == name) all.emplace_back(one.option);
  return all;
}

}  // namespace steelyard::cli
