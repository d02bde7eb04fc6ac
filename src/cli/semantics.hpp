#pragma once

/// @file
/// Whether a step of one training is worth a step of another. Where it is not, images/s rank nothing, and the
/// time to an accuracy has to decide.

#include <cstdint>
#include <string>

#include "modes/trial.hpp"

namespace steelyard::cli {

struct Semantics {
  /// How old the values may be that workers read, and what becomes of stale gradients.
  std::string reading;
  std::string learning;    ///< Optimizer and nominal rate; "" of a replay, which learns nothing.
  std::int64_t batch = 0;  ///< Global; 0 of a replay.
};

/// What consistency and staleness policy are, in words; the same for those that read alike.
/// @param policy as --staleness-policy, and what goes with it.
std::string reading_of(const std::string& consistency, int backup_workers, std::int64_t max_lag,
                       const std::string& policy);

/// @param replay compute is emulated and nothing learned: only how values are read makes a difference.
Semantics semantics_of(const TrialConfig& config, int workers, bool replay);

/// What makes them unlike, in words: "the age of the values that workers read, and the global batch"; ""
/// where a step of one is worth a step of the other.
std::string unlike_in(const Semantics& a, const Semantics& b);

}  // namespace steelyard::cli
