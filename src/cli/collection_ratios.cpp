#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "src/cli/collection.hpp"
#include "src/cli/option_dependencies.hpp"

namespace steelyard::cli {
namespace {

using trace::Scaling;
using trace::view;

constexpr const char* kRoles = "roles";
/// What changes where other ranks take other roles.
constexpr const char* kOfRoles[] = {"mode", "servers", "workers", "ranks", "nodes"};

const Collected& first_of(const Collection& collection, std::size_t group) {
  return collection.trials[collection.groups[group].trials.front()];
}

/// Good trials of a group by family, seed, and which of that seed it is: compared runs know their round,
/// others are counted.
std::map<std::string, const Collected*> by_pair(const Collection& collection, const Group& group) {
  std::map<std::string, int> times;
  std::map<std::string, const Collected*> pairs;
  for (const std::size_t i : group.trials) {
    const Collected& one = collection.trials[i];
    if (!one.good()) continue;
    const std::string key = fmt::format("{}\n{}\n{}\n", one.family, one.row.seed, one.row.repeat);
    pairs[key + std::to_string(times[key]++)] = &one;
  }
  return pairs;
}

double time_of(const Collected& one) {
  return std::isnan(one.row.time_to_target_s) ? std::numeric_limits<double>::infinity()
                                              : one.row.time_to_target_s;
}

std::vector<double> paired_rounds(const Collection& collection, const Ratio& ratio) {
  const auto a = by_pair(collection, collection.groups[ratio.contestant_a]);
  const auto b = by_pair(collection, collection.groups[ratio.contestant_b]);
  std::vector<double> rounds;
  for (const auto& [key, one] : a) {
    const auto other = b.find(key);
    if (other == b.end()) continue;
    const double round = ratio.measure == Measure::speed
                             ? one->row.images_per_s / other->second->row.images_per_s
                             : time_of(*other->second) / time_of(*one);
    if (!std::isnan(round)) rounds.push_back(round * ratio.scale);
  }
  return rounds;
}

bool diverged(const Collection& collection, std::size_t group) {
  return std::ranges::any_of(collection.groups[group].trials, [&](std::size_t i) {
    return view(collection.trials[i].row.status) == "diverged";
  });
}

/// Everything but `setting` and what follows from it; groups with the same can be compared by it.
std::string class_of(const Collected& one, const std::string& setting) {
  std::set<std::string> left{setting};
  for (const std::string& name : dependents(setting)) left.insert(name);
  std::string key = fmt::format("{}\n", view(one.row.command));
  for (const auto& [name, value] : one.settings)
    if (!left.contains(name)) key += name + "=" + value + "\n";
  return key;
}

/// Everything that has nothing to do with roles. Of a setting that only one mode has, the other mode has no
/// say, so `mode` alone makes the classes.
bool alike_but_for_roles(const Collected& a, const Collected& b) {
  if (view(a.row.command) != view(b.row.command)) return false;
  const bool same_mode = view(a.row.mode) == view(b.row.mode);
  const auto of_roles = [](const std::string& name) {
    return name == "batch" || std::ranges::find(kOfRoles, name) != std::end(kOfRoles);
  };
  const auto covers = [&](const Settings& one, const Settings& other) {
    return std::ranges::all_of(one, [&](const auto& setting) {
      if (of_roles(setting.first)) return true;
      const auto found = other.find(setting.first);
      return found == other.end() ? !same_mode : found->second == setting.second;
    });
  };
  return covers(a.settings, b.settings) && covers(b.settings, a.settings);
}

Ratio make_ratio(const Collection& collection, std::size_t a, std::size_t b, const std::string& basis) {
  Ratio made{collection.groups[a].name, collection.groups[b].name, basis, a, b, {}, {}, 0.95, false};
  made.difference = unlike_in(first_of(collection, a).semantics, first_of(collection, b).semantics);
  made.unlike = !made.difference.empty();
  return made;
}

/// Ratios that Holm's procedure takes together: those against one group, by one setting, basis and measure.
class Families {
 public:
  explicit Families(const Collection& collection) : collection_(collection) {}

  void add(std::size_t a, std::size_t b, const std::string& setting, const std::string& basis,
           double scale = 1.0) {
    if (diverged(collection_, a) || diverged(collection_, b)) return;
    const Collected& one = first_of(collection_, a);
    const Collected& other = first_of(collection_, b);
    GroupRatio made;
    made.ratio = make_ratio(collection_, a, b, basis);
    made.ratio.scale = scale;
    made.setting = setting;
    made.scaling = trace::scaling(one.row.workers, one.row.batch, other.row.workers, other.row.batch);
    const bool other_batch = made.scaling == Scaling::none && one.row.batch != other.row.batch;
    if (made.scaling == Scaling::mixed || (setting == kRoles && other_batch)) return;
    const bool timed = one.row.target_accuracy > 0.0 &&
                       one.row.target_accuracy == other.row.target_accuracy;  // NaN where there is none.
    made.ranked = !made.ratio.unlike && !basis.empty();
    push(made);
    if (!timed || basis.empty()) return;
    made.ratio.measure = Measure::time_to_target;
    made.ratio.unlike = false;
    made.ratio.difference.clear();
    made.ranked = true;
    push(made);
  }

  std::vector<GroupRatio> judged() {
    std::vector<GroupRatio> all;
    int number = 0;
    for (auto& [key, family] : families_) {
      std::vector<Ratio> ratios;
      for (const GroupRatio& one : family) ratios.push_back(one.ratio);
      judge_family(ratios);
      for (std::size_t i = 0; i < family.size(); ++i) {
        family[i].ratio = std::move(ratios[i]);
        family[i].family = number;
        all.push_back(std::move(family[i]));
      }
      ++number;
    }
    return all;
  }

 private:
  void push(GroupRatio made) {
    made.ratio.rounds = paired_rounds(collection_, made.ratio);
    if (made.ratio.rounds.empty()) return;
    const std::string key = fmt::format("{:08} {} {} {}", made.ratio.contestant_b, made.setting,
                                        static_cast<int>(made.ratio.measure), made.ratio.basis);
    families_[key].push_back(std::move(made));
  }

  const Collection& collection_;
  std::map<std::string, std::vector<GroupRatio>> families_;
};

/// Of groups that differ in `setting` alone, all against the first found.
void pair_by(const std::string& setting, const Collection& collection, Families& families) {
  std::map<std::string, std::vector<std::size_t>> classes;
  for (std::size_t i = 0; i < collection.groups.size(); ++i) {
    const Collected& one = first_of(collection, i);
    if (one.settings.contains(setting)) classes[class_of(one, setting)].push_back(i);
  }
  for (const auto& [key, members] : classes) {
    const std::string& standard = first_of(collection, members.front()).settings.at(setting);
    for (const std::size_t i : members)
      if (first_of(collection, i).settings.at(setting) != standard)
        families.add(i, members.front(), setting, "ranks");
  }
}

/// At equal ranks, else at equal workers; and by nodes and price where these say more.
void pair_roles(const Collection& collection, std::size_t a, std::size_t b, Families& families) {
  const trace::Resources& one = first_of(collection, a).resources;
  const trace::Resources& other = first_of(collection, b).resources;
  const bool ranks = one.ranks() == other.ranks();
  const bool workers = one.workers == other.workers;
  if (ranks || workers) families.add(a, b, kRoles, ranks ? "ranks" : "workers");
  const bool nodes_known = one.nodes > 0 && other.nodes > 0;
  if (nodes_known && (one.nodes != other.nodes || (!ranks && !workers)))
    families.add(a, b, kRoles, "nodes", static_cast<double>(other.nodes) / one.nodes);
  if (one.price && other.price && *one.price > 0.0)
    families.add(a, b, kRoles, "price", *other.price / *one.price);
}

/// ps against each allreduce; numbers of servers at equal ranks against the least of them; more workers, as a
/// speed-up, against the fewest.
void pair_by_roles(const Collection& collection, Families& families) {
  const std::size_t groups = collection.groups.size();
  const auto is_ps = [&](std::size_t i) { return view(first_of(collection, i).row.mode) == "ps"; };
  for (std::size_t a = 0; a < groups; ++a) {
    const trace::Resources& mine = first_of(collection, a).resources;
    std::size_t fewest_workers = a;
    std::size_t fewest_servers = a;
    bool has_opponent = false;
    for (std::size_t b = 0; b < groups; ++b) {
      if (a == b || !alike_but_for_roles(first_of(collection, a), first_of(collection, b))) continue;
      const trace::Resources& its = first_of(collection, b).resources;
      if (is_ps(a) && !is_ps(b)) {
        pair_roles(collection, a, b, families);
        has_opponent = true;
      }
      if (is_ps(a) != is_ps(b)) continue;
      if (its.servers == mine.servers && its.workers < first_of(collection, fewest_workers).resources.workers)
        fewest_workers = b;
      if (its.ranks() == mine.ranks() && its.servers < first_of(collection, fewest_servers).resources.servers)
        fewest_servers = b;
    }
    if (fewest_workers != a) families.add(a, fewest_workers, kRoles, "");
    if (fewest_servers != a && !has_opponent) pair_roles(collection, a, fewest_servers, families);
  }
}

}  // namespace

void pair_groups(Collection& collection) {
  Families families(collection);
  std::map<std::string, std::set<std::string>> values;
  for (std::size_t i = 0; i < collection.groups.size(); ++i)
    for (const auto& [name, value] : first_of(collection, i).settings) values[name].insert(value);
  pair_by_roles(collection, families);
  for (const auto& [name, seen] : values)
    if (seen.size() > 1 && name != "batch" && std::ranges::find(kOfRoles, name) == std::end(kOfRoles))
      pair_by(name, collection, families);
  if (values["batch"].size() > 1) pair_by("batch", collection, families);
  collection.ratios = families.judged();
}

}  // namespace steelyard::cli
