#pragma once

/// @file
/// What a trial's policies were, how stale its gradients, what was dropped, who waited, and who held up the
/// others: for people and for programs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/trace/metrics.hpp"

namespace steelyard::cli {

/// "ssp (lag 3)", "bsp, 1 backup worker", "asp drop beyond 4".
std::string consistency_text(const trace::TrialRow& row);

/// The keys max_lag, backup_workers, staleness_policy, max_staleness and on_drop of docs/json.md.
nlohmann::json policy_json(const trace::TrialRow& row);
/// The keys staleness, drops, wait and straggler of docs/json.md.
nlohmann::json staleness_json(const trace::TrialSummary& summary);

/// Lines of a trial's text: staleness, dropped, waiting, straggler; those that say something.
std::string staleness_text(const trace::TrialRow& row, const trace::TrialSummary& summary);

/// Columns of summary.csv after the others, each with a comma before it.
std::string staleness_csv_head();
std::string staleness_csv(const trace::TrialRow& row, const trace::TrialSummary& summary);

/// A trial among many; borrowed.
struct TrialView {
  const trace::TrialRow& row;
  const trace::TrialSummary& summary;
};

/// Columns of a table of contestants, or trials, that are there only if some trial has what they show.
class StalenessColumns {
 public:
  explicit StalenessColumns(const std::vector<TrialView>& all);

  std::vector<std::string> heads() const;
  /// @param rounds of one contestant; a dash where it has none of that.
  std::vector<std::string> cells(const std::vector<TrialView>& rounds) const;
  /// A line that explains the heads; "" where there are none.
  std::string legend() const;

 private:
  bool stale_ = false;
  bool dropped_ = false;
};

/// A line for each contestant that has the same straggler in at least half of its rounds. Fresh rounds are
/// left out.
std::string stragglers_text(const std::vector<TrialView>& trials);

}  // namespace steelyard::cli
