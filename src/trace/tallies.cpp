#include "src/trace/tallies.hpp"

#include <algorithm>
#include <tuple>

namespace steelyard::trace {
namespace {

/// A step that waits for more workers than this has several rows for some; sums over the rows stay right.
constexpr std::size_t kRowsSearched = 64;

}  // namespace

void count_drop(std::vector<DropCount>& counts, const DropRow& row) {
  const auto key = [](const DropCount& one) { return std::tuple(one.worker, one.reason); };
  const auto at = std::ranges::lower_bound(counts, std::tuple(row.worker, row.reason), {}, key);
  if (at != counts.end() && key(*at) == std::tuple(row.worker, row.reason))
    ++at->pushes;
  else
    counts.insert(at, DropCount{row.worker, row.reason, 1});
}

void sum_read(std::vector<ReadRow>& sums, const ReadRow& row) {
  const std::size_t last = sums.size();
  const std::size_t first = last - std::min(last, kRowsSearched);
  for (std::size_t i = last; i > first && sums[i - 1].step == row.step; --i) {
    ReadRow& sum = sums[i - 1];
    if (sum.waited_for != row.waited_for) continue;
    sum.wait_ns += row.wait_ns;
    sum.skew = std::max(sum.skew, row.skew);
    return;
  }
  sums.push_back(row);
  sums.back().shard = -1;
}

}  // namespace steelyard::trace
