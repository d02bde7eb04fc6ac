#pragma once

/// @file
/// Sums over the rows of /drops and /reads. The rows go to the file and leave memory; the sums stay, so that
/// a trial's figures can be made of them, by gathering or from files alike.

#include <cstdint>
#include <vector>

#include "src/trace/rows.hpp"

namespace steelyard::trace {

/// Pushes of one worker that one server dropped for one reason.
struct DropCount {
  std::int32_t worker = 0;  ///< Index.
  DropReason reason = DropReason::stale;
  std::uint64_t pushes = 0;
};

/// Counts `row`. @param counts sorted by worker and reason; allocates only for a pair that is new.
void count_drop(std::vector<DropCount>& counts, const DropRow& row);

/// Adds `row` to that of `sums` with its step and `waited_for`, or appends it: the times are added, of the
/// skews the greatest stays, and the shard becomes -1. Steps come in order, so only the last rows are
/// searched.
void sum_read(std::vector<ReadRow>& sums, const ReadRow& row);

}  // namespace steelyard::trace
