#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/cli/collection.hpp"

namespace steelyard::cli {
namespace {

using trace::view;

/// What a label or a group of its own says already.
bool is_in_label(const std::string& name) {
  constexpr std::string_view kNames[] = {"mode", "servers", "workers"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::string group_key(const Collected& one) {
  std::string key = fmt::format("{}\n{}\n", view(one.row.command), view(one.row.validity));
  for (const auto& [name, value] : one.settings) key += name + "=" + value + "\n";
  return key;
}

std::string roles_text(const trace::CollectedRow& row) {
  if (view(row.mode) == "ps") return fmt::format("ps {}+{}", row.servers, row.workers);
  return row.workers == row.ranks ? fmt::format("allreduce {}", row.workers)
                                  : fmt::format("allreduce {} of {}", row.workers, row.ranks);
}

/// Settings that some two groups have unlike. A setting that a mode does not have makes no difference.
std::set<std::string> varying(const Collection& collection) {
  std::map<std::string, std::set<std::string>> values;
  for (const Group& group : collection.groups)
    for (const auto& [name, value] : collection.trials[group.trials.front()].settings)
      if (!is_in_label(name)) values[name].insert(value);
  std::set<std::string> names;
  for (const auto& [name, seen] : values)
    if (seen.size() > 1) names.insert(name);
  return names;
}

/// Ranks that the roles tell, and nodes that follow from them, are said only where names would be the same.
void name_groups(Collection& collection) {
  const std::set<std::string> names = varying(collection);
  std::map<std::string, int> times;
  for (Group& group : collection.groups) {
    const Collected& first = collection.trials[group.trials.front()];
    group.name = roles_text(first.row);
    for (const std::string& name : names)
      if (const auto found = first.settings.find(name);
          found != first.settings.end() && name != "ranks" && name != "nodes")
        group.name += " " + name + "=" + found->second;
    ++times[group.name];
  }
  for (Group& group : collection.groups) {
    if (times[group.name] < 2) continue;
    const trace::CollectedRow& row = collection.trials[group.trials.front()].row;
    group.name += fmt::format(" nodes={} ({}, {})", row.nodes, view(row.command),
                              view(row.validity).empty() ? "no limits" : view(row.validity));
  }
}

}  // namespace

void group_trials(Collection& collection) {
  std::map<std::string, std::size_t> groups;
  for (std::size_t i = 0; i < collection.trials.size(); ++i) {
    const auto [found, fresh] = groups.emplace(group_key(collection.trials[i]), collection.groups.size());
    if (fresh) collection.groups.emplace_back();
    collection.groups[found->second].trials.push_back(i);
    collection.trials[i].row.group = static_cast<std::int32_t>(found->second);
  }
  name_groups(collection);
}

}  // namespace steelyard::cli
