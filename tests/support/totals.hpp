#pragma once

/// @file
/// What all ranks of a trial recorded, added up.

#include "src/trace/trial_data.hpp"

namespace steelyard::test {

struct Totals {
  std::uint64_t worker_out = 0, worker_in = 0, worker_messages = 0;
  std::uint64_t server_in = 0, server_out = 0, server_messages = 0;
  std::uint64_t pushes = 0, pulls = 0, applied = 0, dropped = 0;
  std::uint64_t staleness = 0;  ///< Gradients whose staleness was counted.
  std::uint64_t stopped = 0;    ///< Of `dropped`: since the trial was ending.
};
Totals totals(const std::vector<trace::RankTrial>& ranks);

}  // namespace steelyard::test
