#pragma once

/// @file
/// How much workers wait, for whom, and which worker holds up the others. All over the measured steps.

#include <cstdint>
#include <optional>
#include <vector>

#include "src/trace/trial_data.hpp"

namespace steelyard::trace {

struct WaitSummary {
  double share = 0.0;             ///< Sum of wait_ns / sum of step times, over all workers; of /steps.
  std::vector<double> by_worker;  ///< [workers] The same for each.
  /// [workers] Of all waiting in /reads, the share that ended by a push of that worker; what is left to 1 was
  /// for no other worker's push. Empty where /reads has no waiting.
  std::vector<double> waited_for;
};
WaitSummary wait_summary(const TrialData& trial);

/// What makes a worker slow: its own compute; or what it waits for itself, its servers or its link.
enum class StragglerReason : std::uint8_t { compute, wait };

struct Straggler {
  int worker = 0;
  int rank = 0;  ///< World rank.
  StragglerReason reason = StragglerReason::compute;
  /// Its compute time over the median of the others': medians over the steps where that is above 1.1, else
  /// means over the steps, which single slow steps move.
  double compute_ratio = 1.0;
  double wait_share = 0.0;        ///< Its own, as in WaitSummary.
  double waited_for = 0.0;        ///< As in WaitSummary; 0 where /reads has no waiting.
  std::int64_t window_steps = 0;  ///< Length of a window: 50 steps, at most a tenth of the measured ones.
  std::int64_t windows = 0, windows_led = 0;  ///< All, and those in which it is the straggler by itself.
  bool chronic = false;                       ///< In at least half of the windows.
  /// Unless chronic, ascending: the fewest steps, at most five, that hold half of what it computed beyond its
  /// median, or half of what was waited for it.
  std::vector<std::int64_t> steps;
};

/// With compute c = data + forward + backward + update of a step:
/// 1. the worker with the greatest median c, where that exceeds 1.1 x the median of the others' medians;
/// 2. else the one most waited for, where it holds more than 1.5 / workers of the waiting. The reason is
///    `wait` where its own wait share is above the median of the others', or its mean c is not larger than
///    theirs; else `compute`;
/// 3. else, where /reads has no waiting (asp, allreduce), as 1 with mean c, which shows single slow steps.
/// Nothing where no worker stands out or there is only one. The thresholds are ours.
std::optional<Straggler> find_straggler(const TrialData& trial);

}  // namespace steelyard::trace
