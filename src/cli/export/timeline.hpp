#pragma once

/// @file
/// A rank's events as viewers want them: on lines in which intervals nest, with names for what belongs
/// together on several ranks.

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "src/trace/rows.hpp"

namespace steelyard::cli {

/// What a rank does one after the other, or one inside the other, is on its line 0. Transfers that go on
/// meanwhile (reply, allreduce) overlap it and each other: each is put on the first later line that is free.
/// That needs no sorting, because a rank records an event when it ends.
class Lines {
 public:
  static constexpr int kMain = 0;

  static bool overlaps(trace::Phase phase) {
    return phase == trace::Phase::reply || phase == trace::Phase::allreduce;
  }
  /// @return the line of an event, all events of a rank being asked for in file order.
  int of(const trace::EventRow& row);
  /// Lines so far, the main one included.
  int count() const { return 1 + static_cast<int>(ends_ns_.size()); }

 private:
  std::vector<std::int64_t> ends_ns_;  ///< Of the last event on each later line.
};

/// A point of the way of one bundle: push, its handling (serve or apply), reply, and the worker's wait for
/// it.
struct FlowPoint {
  enum class Kind : std::uint8_t { begin, step, end };
  std::uint64_t id;  ///< The same on all ranks.
  Kind kind;
  std::int64_t time_ns;  ///< On the rank's clock, within the event.
};

/// Names the flows that the events of one rank belong to. Both sides count the pushes of each bundle and step
/// by themselves, so nothing is kept but the last of each bundle and peer.
class Flows {
 public:
  explicit Flows(int rank) : rank_(rank) {}
  /// All events of the rank being asked for in file order.
  std::optional<FlowPoint> of(const trace::EventRow& row);

 private:
  enum class Side : std::uint8_t { pushes, handlings, replies };
  /// Of a bundle at one peer, in one trial.
  struct Last {
    std::int64_t step = -1;
    int count = 0;      ///< In this step: a push that was dropped may be made again.
    bool sent = false;  ///< By this rank itself, and not by another one for it.
  };
  using Key = std::tuple<std::uint16_t, Side, std::int32_t, std::int32_t>;

  std::uint64_t id(const trace::EventRow& row, Side side, const Last& last) const;

  int rank_;
  std::map<Key, Last> last_;  ///< By trial, side, peer and shard.
};

}  // namespace steelyard::cli
