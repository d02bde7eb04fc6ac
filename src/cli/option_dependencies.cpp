#include "src/cli/option_dependencies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace steelyard::cli {
namespace {

/// The options have an effect where `on` has one of `values` ("x…": begins with x) and has an effect itself.
struct Dependency {
  const char* on;
  std::vector<std::string_view> values;
  std::vector<std::string_view> options;
};

const Dependency kDependencies[] = {
    {"mode",
     {"ps"},
     {"servers", "server-ranks", "placement", "consistency", "bundle-bytes", "piece-bytes", "transport",
      "aggregate", "server-weight", "server-memory"}},
    {"mode", {"allreduce"}, {"collective", "sharded-optimizer", "bucket-mib", "first-bucket-mib"}},
    {"consistency", {"bsp"}, {"backup-workers"}},
    {"consistency", {"ssp"}, {"max-lag"}},
    {"consistency", {"asp", "ssp"}, {"staleness-policy", "lr-scale"}},
    {"staleness-policy", {"drop"}, {"max-staleness"}},
    {"staleness-policy", {"drop", "cost_aware"}, {"on-drop"}},
    {"staleness-policy", {"compensate"}, {"compensation"}},
    {"optimizer", {"momentum", "nesterov"}, {"momentum"}},
    {"model",
     {"replay:…"},
     {"compute", "compute-ms", "compute-samples", "compute-profile", "compute-grain-ms"}},
    {"data", {"fashion-mnist", "clips"}, {"data-dir"}},
    {"device", {"cuda"}, {"nccl-algo", "timeout"}},
};

const Dependency* find(std::string_view option) {
  const auto* found = std::ranges::find_if(kDependencies, [option](const Dependency& one) {
    return std::ranges::find(one.options, option) != one.options.end();
  });
  return found == std::end(kDependencies) ? nullptr : found;
}

bool matches(std::string_view value, std::string_view allowed) {
  constexpr std::string_view kAnyEnd = "…";
  return allowed.ends_with(kAnyEnd) ? value.starts_with(allowed.substr(0, allowed.size() - kAnyEnd.size()))
                                    : value == allowed;
}

}  // namespace

std::string lacks(std::string_view option, const ValueOf& value_of) {
  for (const auto* one = find(option); one != nullptr; one = find(one->on)) {
    const auto value = value_of(one->on);
    const auto fits = [&value](std::string_view allowed) { return matches(*value, allowed); };
    if (value && std::ranges::none_of(one->values, fits))
      return fmt::format("--{} {}", one->on, fmt::join(one->values, " or "));
  }
  return "";
}

std::vector<std::string> dependents(std::string_view name) {
  std::vector<std::string> all;
  if (name == "model") all.emplace_back("data");  // Which may be made for it.
  for (const Dependency& one : kDependencies)
    for (const auto* link = &one; link != nullptr; link = find(link->on))
      if (link->on == name) all.insert(all.end(), one.options.begin(), one.options.end());
  return all;
}

}  // namespace steelyard::cli
