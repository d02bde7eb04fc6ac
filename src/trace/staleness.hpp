#pragma once

/// @file
/// How stale the gradients were that servers applied, and what was dropped. Counts are of the whole trial.
/// Staleness as in Ho et al. 2013 (SSP) and Zhang et al. 2016: updates applied between a gradient's read and
/// its apply.

#include <array>
#include <cstdint>
#include <vector>

#include "src/trace/trial_data.hpp"

namespace steelyard::trace {

/// Of the pushes of one worker, of those at one server, or of those with one staleness.
struct StalenessPart {
  std::uint64_t pushes = 0;
  double mean = 0.0;  ///< Updates: sum of count x staleness / sum of count.
  std::int64_t max = 0;
  double mean_age_ms = 0.0;  ///< Sum of age_ns / sum of count.
};

/// Each push of each bundle counts by itself; the first push of a worker has no read before it and age 0.
struct StalenessSummary {
  double median = 0.0, p95 = 0.0;  ///< Updates, nearest rank over cumulated counts.
  std::int64_t max = 0;
  double mean = 0.0;
  double mean_age_ms = 0.0;
  /// Nearest rank over the rows of /staleness, each with its mean age and counted as often as its pushes: the
  /// spread within a row (window, worker, bundle, staleness) is not known.
  double p95_age_ms = 0.0;
  /// Versions: the greatest spread within one read that /reads or (of one server's bundles) /staleness saw.
  std::int64_t max_skew = 0;
  std::vector<StalenessPart> by_worker;  ///< [workers]
  std::vector<StalenessPart> by_server;  ///< [servers]
  std::vector<StalenessPart>
      histogram;  ///< One for each staleness seen, ascending; its mean is that staleness.
};
StalenessSummary staleness_summary(const TrialData& trial);

struct DropSummary {
  double share = 0.0;  ///< Dropped / received pushes, both of /load; 0 where none was received.
  std::array<std::uint64_t, kDropReasonNames.size()>
      by_reason{};                       ///< Pushes, of /drops, as are the next two.
  std::vector<std::uint64_t> by_worker;  ///< [workers]
  std::vector<std::uint64_t> by_server;  ///< [servers]
};
DropSummary drop_summary(const TrialData& trial);

}  // namespace steelyard::trace
