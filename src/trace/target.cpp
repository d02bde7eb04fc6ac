#include <algorithm>
#include <cmath>
#include <limits>

#include "src/trace/metrics.hpp"

namespace steelyard::trace {

double seconds_after_begin(const TrialData& trial, std::int64_t time_ns) {
  for (const RankTrial& rank : trial.ranks)
    if (rank.role == "worker" && rank.role_index == 0 && !rank.steps.empty())
      return static_cast<double>(time_ns - rank.steps.front().begin_ns) / 1e9;
  return std::numeric_limits<double>::quiet_NaN();
}

Target time_to_target(const TrialData& trial) {
  Target target;
  target.accuracy = trial.final.target_accuracy;
  if (target.accuracy <= 0.0) return target;
  if (std::isnan(seconds_after_begin(trial, 0))) {  // A run without trace keeps the figures alone.
    target.step = trial.final.target_step;
    target.time_s = trial.final.time_to_target_s;
    return target;
  }
  const auto enough = [&](const EvaluationRow& row) { return row.accuracy >= target.accuracy; };
  const auto first = std::ranges::find_if(trial.evaluations, enough);
  if (first == trial.evaluations.end()) return target;
  target.step = first->step;
  target.time_s = seconds_after_begin(trial, first->time_ns);
  return target;
}

}  // namespace steelyard::trace
