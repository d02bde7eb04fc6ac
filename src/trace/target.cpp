#include <algorithm>

#include "src/trace/metrics.hpp"

namespace steelyard::trace {
namespace {

/// Begin of the first worker's first step; nothing where its steps were not recorded.
std::optional<std::int64_t> begin_ns(const TrialData& trial) {
  for (const RankTrial& rank : trial.ranks)
    if (rank.role == "worker" && rank.role_index == 0 && !rank.steps.empty())
      return rank.steps.front().begin_ns;
  return std::nullopt;
}

}  // namespace

Target time_to_target(const TrialData& trial) {
  Target target;
  target.accuracy = trial.final.target_accuracy;
  if (target.accuracy <= 0.0) return target;
  const auto begin = begin_ns(trial);
  if (!begin) {  // A run without trace keeps the figures alone.
    target.step = trial.final.target_step;
    target.time_s = trial.final.time_to_target_s;
    return target;
  }
  const auto enough = [&](const EvaluationRow& row) { return row.accuracy >= target.accuracy; };
  const auto first = std::ranges::find_if(trial.evaluations, enough);
  if (first == trial.evaluations.end()) return target;
  target.step = first->step;
  target.time_s = static_cast<double>(first->time_ns - *begin) / 1e9;
  return target;
}

}  // namespace steelyard::trace
