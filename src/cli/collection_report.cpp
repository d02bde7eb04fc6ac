#include "src/cli/collection_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/cli/console.hpp"
#include "src/cli/rating.hpp"
#include "src/cli/row_values.hpp"

namespace steelyard::cli {
namespace {

using nlohmann::json;
using trace::CollectionTables;
using trace::GroupRow;
using trace::RatioRow;
using trace::view;

constexpr std::size_t kColumns = 98;
constexpr std::size_t kLongestName = 16;
constexpr std::size_t kLongestRun = 30;
constexpr std::size_t kMostTrials = 40;  ///< That the terminal is given one by one.

std::string fixed(double value, int digits = 2) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

std::string range(double low, double high) {
  return std::isfinite(low) && std::isfinite(high) ? number_text(low) + " to " + number_text(high) : "-";
}

/// Short names stand in the tables, long ones in a list before them.
bool names_fit(const CollectionTables& tables) {
  return std::ranges::all_of(tables.groups,
                             [](const GroupRow& row) { return view(row.name).size() <= kLongestName; });
}

std::string name_of(const CollectionTables& tables, std::int32_t group) {
  const GroupRow& row = tables.groups[static_cast<std::size_t>(group)];
  return names_fit(tables) ? std::string(view(row.name)) : fmt::format("group {}", group);
}

std::string counted(std::size_t count, const std::string& word) {
  return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s");
}

/// What all trials have in common.
std::string common_text(const Collection& collection) {
  std::map<std::string, std::set<std::string>> values;
  for (const Collected& one : collection.trials)
    for (const char* name : {"model", "data", "batch"})
      if (const auto found = one.settings.find(name); found != one.settings.end())
        values[name].insert(found->second);
  std::string text = line_text(
      "collected", fmt::format("{} of {} in {}", counted(collection.trials.size(), "trial"),
                               counted(collection.runs, "run"), counted(collection.groups.size(), "group")));
  for (const char* name : {"model", "data", "batch"})
    if (values[name].size() == 1) text += line_text(name, *values[name].begin());
  std::set<std::string> limits;
  for (const Collected& one : collection.trials) limits.insert(std::string(view(one.row.validity)));
  for (const std::string& one : limits)
    if (!one.empty()) text += line_text("validity", one);
  std::set<std::string> revisions;
  for (const Collected& one : collection.trials) revisions.insert(std::string(view(one.row.revision)));
  if (revisions.size() > 1)
    text += line_text("revisions", fmt::format("{} builds of the program: {}", revisions.size(),
                                               fmt::join(revisions, ", ")));
  return text;
}

std::string legend_text(const CollectionTables& tables) {
  if (names_fit(tables)) return "";
  std::string text;
  for (const GroupRow& row : tables.groups)
    text += wrapped(line_text(fmt::format("group {}", row.group), std::string(view(row.name))), kColumns,
                    std::string(11, ' '));
  return text + "\n";
}

std::string trial_table(const CollectionTables& tables) {
  if (tables.trials.size() > kMostTrials)
    return fmt::format("{} trials: --csv, --json and --hdf5 have each\n\n", tables.trials.size());
  Table table({"run", "trial", "group", "seed", "round", "status", "images/s", "step ms", "accuracy"});
  for (const trace::CollectedRow& row : tables.trials) {
    std::string run(view(row.run));
    if (run.size() > kLongestRun) run = "..." + run.substr(run.size() - kLongestRun + 3);
    table.add({run, std::to_string(row.trial), std::to_string(row.group), std::to_string(row.seed),
               std::to_string(row.repeat) + (row.confirmation != 0 ? "*" : ""), std::string(view(row.status)),
               number_text(row.images_per_s), number_text(row.step_ms), number_text(row.accuracy)});
  }
  return table.text() + "*: a fresh round, which no group or ratio counts\n\n";
}

std::string group_table(const CollectionTables& tables) {
  Table table(
      {"group", "trials", "images/s", "95 % interval", "step ms", "wait %", "max/mean", "PE", "LB", "CE"});
  for (const GroupRow& row : tables.groups)
    table.add({name_of(tables, row.group),
               std::to_string(row.trials) + (row.diverged > 0 ? fmt::format("+{}", row.diverged) : ""),
               number_text(row.images_per_s), range(row.images_per_s_low, row.images_per_s_high),
               number_text(row.step_ms), fixed(100.0 * row.wait_share, 0), fixed(row.bytes_max_over_mean),
               fixed(row.parallel_efficiency), fixed(row.load_balance), fixed(row.communication_efficiency)});
  const bool diverged =
      std::ranges::any_of(tables.groups, [](const GroupRow& row) { return row.diverged > 0; });
  return table.text() + "PE = LB x CE: parallel efficiency, load balance, communication efficiency (POP)" +
         (diverged ? "; +n: n more diverged" : "") + "\n\n";
}

std::string outcome_table(const CollectionTables& tables) {
  Table table({"group", "accuracy", "95 % interval", "stale", "s to target", "95 % interval", "reached"});
  bool any = false;
  for (const GroupRow& row : tables.groups) {
    if (std::isnan(row.accuracy)) continue;
    any = true;
    const bool open = std::isfinite(row.time_to_target_s_low) && !std::isfinite(row.time_to_target_s_high);
    table.add({name_of(tables, row.group), number_text(row.accuracy),
               range(row.accuracy_low, row.accuracy_high),
               std::isnan(row.staleness_median)
                   ? "-"
                   : fmt::format("{}/{}", number_text(row.staleness_median), number_text(row.staleness_max)),
               std::isfinite(row.time_to_target_s) ? number_text(row.time_to_target_s) : "-",
               open ? "over " + number_text(row.time_to_target_s_low)
                    : range(row.time_to_target_s_low, row.time_to_target_s_high),
               std::isnan(row.time_to_target_s) ? "-" : fmt::format("{} of {}", row.reached, row.trials)});
  }
  return any ? table.text() + "\n" : "";
}

std::string rate_table(const CollectionTables& tables) {
  const auto says = [](const GroupRow& row) { return row.nodes > 1 || !std::isnan(row.price_per_hour); };
  if (std::ranges::none_of(tables.groups, says)) return "";
  Table table(
      {"group", "ranks", "nodes", "images/s per node", "price of an hour", "images for a price of 1"});
  for (const GroupRow& row : tables.groups)
    table.add({name_of(tables, row.group), std::to_string(row.servers + row.workers),
               row.nodes > 0 ? std::to_string(row.nodes) : "-", number_text(row.images_per_s_per_node),
               number_text(row.price_per_hour), number_text(row.images_per_price)});
  return table.text() + "\n";
}

constexpr const char* kTooFew = "too few pairs";

std::string finding(const RatioRow& row) {
  if (view(row.basis).empty()) return "speed-up";
  if (row.ranked == 0) return "not ranked";
  if (row.pairs < kLeastRounds || !std::isfinite(row.low)) return kTooFew;
  if (row.differs == 0) return "unclear";
  return row.ratio > 1.0 ? "ahead" : "behind";
}

/// Of one measure.
std::string ratio_table(const CollectionTables& tables, std::string_view measure, const char* head) {
  Table table({head, "at equal", "scaling", "pairs", "ratio", "interval", ""});
  bool any = false;
  bool too_few = false;
  std::map<std::int32_t, std::size_t> families;
  for (const RatioRow& row : tables.ratios) {
    if (view(row.measure) != measure) continue;
    any = true;
    ++families[row.family];
    too_few = too_few || finding(row) == kTooFew;
    const bool bounded = std::isfinite(row.low) && std::isfinite(row.high);
    table.add({name_of(tables, row.a) + " / " + name_of(tables, row.b),
               view(row.basis).empty() ? "-" : std::string(view(row.basis)),
               view(row.scaling).empty() ? "-" : std::string(view(row.scaling)), std::to_string(row.pairs),
               fixed(row.ratio, 3), bounded ? fmt::format("{:.3f} to {:.3f}", row.low, row.high) : "-",
               finding(row)});
  }
  if (!any) return "";
  std::size_t most = 0;
  for (const auto& [_, ratios] : families) most = std::max(most, ratios);
  return table.text() + "intervals at the confidence that Holm's correction asks for; unclear: it may be 1" +
         (too_few
              ? fmt::format("\n{}: {} judged together need{} at least {}", kTooFew, counted(most, "ratio"),
                            most == 1 ? "s" : "", std::max(rounds_needed(most), kLeastRounds))
              : "") +
         "\n\n";
}

/// In words: what images/s cannot rank, and what scaling is.
std::string notes_text(const CollectionTables& tables) {
  std::set<std::string> differences;
  std::set<std::string> kinds;
  for (const RatioRow& row : tables.ratios) {
    if (!view(row.unlike).empty()) differences.insert(std::string(view(row.unlike)));
    if (!view(row.scaling).empty()) kinds.insert(std::string(view(row.scaling)));
  }
  std::string text;
  if (kinds.contains("strong"))
    text += "strong scaling: other numbers of workers share the same global batch\n";
  if (kinds.contains("weak")) text += "weak scaling: other numbers of workers have the same batch each\n";
  for (const std::string& one : differences)
    text +=
        wrapped("not ranked: groups that differ in " + one +
                    " cannot be ranked by images/s, since a step of one is not worth a step of the other; "
                    "times to a --target-accuracy decide, where trials have one",
                kColumns) +
        "\n";
  return text;
}

}  // namespace

std::string collection_text(const Collection& collection, const CollectionTables& tables) {
  return common_text(collection) + "\n" + legend_text(tables) + trial_table(tables) + group_table(tables) +
         outcome_table(tables) + rate_table(tables) +
         ratio_table(tables, "images_per_s", "images/s against") +
         ratio_table(tables, "time_to_target", "sooner at the target") + notes_text(tables);
}

std::string collection_csv(const Collection& collection, const CollectionTables& tables) {
  std::set<std::string> names;
  for (const Collected& one : collection.trials)
    for (const auto& [name, value] : one.settings) names.insert(name);
  std::string text;
  for (const trace::Field& field : trace::table<trace::CollectedRow>().fields)
    text += std::string(text.empty() ? "" : ",") + field.name;
  for (const std::string& name : names) text += "," + cell_text("setting." + name);
  text += "\n";
  for (std::size_t i = 0; i < tables.trials.size(); ++i) {
    std::string line;
    for (const trace::Field& field : trace::table<trace::CollectedRow>().fields)
      line += cell_text(field_json(field, &tables.trials[i])) + ",";
    line.pop_back();
    for (const std::string& name : names) {
      const auto found = collection.trials[i].settings.find(name);
      line += "," + (found == collection.trials[i].settings.end() ? "" : cell_text(found->second));
    }
    text += line + "\n";
  }
  return text;
}

json collection_json(const Collection& collection, const CollectionTables& tables) {
  json out = {{"runs", collection.runs},
              {"trials", json::array()},
              {"groups", json::array()},
              {"ratios", json::array()},
              {"remarks", json::array()}};
  for (const trace::CollectedRow& row : tables.trials) {
    json trial = row_json(row);
    trial["parameter_hash"] = fmt::format("{:016x}", row.parameter_hash);
    trial["confirmation"] = row.confirmation != 0;
    out["trials"].push_back(std::move(trial));
  }
  for (std::size_t i = 0; i < tables.groups.size(); ++i) {
    out["groups"].push_back(row_json(tables.groups[i]));
    out["groups"].back()["settings"] = collection.trials[collection.groups[i].trials.front()].settings;
  }
  for (const RatioRow& row : tables.ratios) {
    json ratio = row_json(row);
    ratio["differs"] = row.differs != 0;
    ratio["ranked"] = row.ranked != 0;
    out["ratios"].push_back(std::move(ratio));
  }
  for (const Remark& one : collection.remarks)
    out["remarks"].push_back({{"path", one.path}, {"text", one.text}});
  return out;
}

}  // namespace steelyard::cli
