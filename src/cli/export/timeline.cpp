#include "src/cli/export/timeline.hpp"

#include <algorithm>
#include <span>

#include "src/base/hash.hpp"

namespace steelyard::cli {

using trace::EventRow;
using trace::Phase;

int Lines::of(const EventRow& row) {
  if (!overlaps(row.phase)) return kMain;
  // The fullest line that is free, so that the others stay free for longer ones.
  std::size_t best = ends_ns_.size();
  for (std::size_t i = 0; i < ends_ns_.size(); ++i)
    if (ends_ns_[i] <= row.begin_ns && (best == ends_ns_.size() || ends_ns_[i] > ends_ns_[best])) best = i;
  if (best == ends_ns_.size()) ends_ns_.push_back(0);
  ends_ns_[best] = row.end_ns;
  return 1 + static_cast<int>(best);
}

std::uint64_t Flows::id(const EventRow& row, Side side, const Last& last) const {
  const bool works = side == Side::pushes;
  const std::int64_t worker = works ? rank_ : row.peer;
  const std::int64_t server = works ? row.peer : rank_;
  const std::int64_t words[] = {row.trial, worker, server, row.shard, last.step, last.count};
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(words)));
  return hash.value();
}

std::optional<FlowPoint> Flows::of(const EventRow& row) {
  const bool handles = row.phase == Phase::serve || row.phase == Phase::apply;
  const bool replies = row.phase == Phase::reply;
  const bool waits = row.phase == Phase::wait;
  if (row.peer < 0 || !(handles || replies || waits || row.phase == Phase::push)) return std::nullopt;
  const Side side = handles ? Side::handlings : replies ? Side::replies : Side::pushes;
  Last& last = last_[{row.trial, side, row.peer, row.shard}];
  if (!waits) last = {row.step, last.step == row.step ? last.count + 1 : 1, row.bytes > 0};
  if (side == Side::pushes && !last.sent) return std::nullopt;
  // Within the wait, whose end it is.
  if (waits)
    return FlowPoint{id(row, side, last), FlowPoint::Kind::end, std::max(row.begin_ns, row.end_ns - 1)};
  const auto kind = side == Side::pushes ? FlowPoint::Kind::begin : FlowPoint::Kind::step;
  return FlowPoint{id(row, side, last), kind, row.begin_ns};
}

}  // namespace steelyard::cli
