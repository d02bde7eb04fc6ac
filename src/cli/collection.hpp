#pragma once

/// @file
/// Many runs brought together: their trials, which of them are repeats of each other, and ratios between
/// groups of repeats that differ in one setting. docs/metrics.md has the rules.

#include <optional>
#include <string>
#include <vector>

#include "src/cli/find_runs.hpp"
#include "src/cli/run_options.hpp"
#include "src/cli/verdict.hpp"
#include "src/trace/collection_file.hpp"
#include "src/trace/reader.hpp"
#include "src/trace/resources.hpp"

namespace steelyard::cli {

/// One trial of one run.
struct Collected {
  trace::CollectedRow row{};
  Settings settings;
  Semantics semantics;
  trace::Resources resources;
  std::string family;  ///< Repeats are pairs within it: the run of a comparison, the folder of other runs.

  bool good() const { return trace::view(row.status) == "done" && row.confirmation == 0; }
};

/// Trials with the same settings.
struct Group {
  std::vector<std::size_t> trials;  ///< Places in the collection; all, also fresh rounds and diverged ones.
  std::string name;                 ///< "ps 1+3", and the settings that are not those of all groups.
};

/// One group against another. `ratio.contestant_a` and `_b` are groups.
struct GroupRatio {
  Ratio ratio;
  int family = 0;
  std::string setting;  ///< What they differ in; "roles" for mode and numbers of servers and workers.
  trace::Scaling scaling = trace::Scaling::none;
  bool ranked = true;  ///< Whether the ratio may say who is ahead.
};

struct Collection {
  std::vector<Collected> trials;
  std::vector<Group> groups;
  std::vector<GroupRatio> ratios;
  std::vector<Remark> remarks;
  std::size_t runs = 0;
};

/// Reads the runs that `targets` name. What cannot be read is left out, with the reason.
Collection collect_runs(const std::vector<std::string>& targets, const std::optional<trace::Price>& price);

/// The trials of one run, into `collection`. @param options of its run.toml.
void add_run(const trace::RunSummary& run, const RunOptions& options,
             const std::optional<trace::Price>& price, Collection& collection);

/// Fills groups: trials that differ only in seed or repeat belong together.
void group_trials(Collection& collection);

/// Fills ratios, over the pairs of trials with the same seed and repeat.
void pair_groups(Collection& collection);

}  // namespace steelyard::cli
