#pragma once

/// @file
/// When the device did something, on the clock of the rank.

#include <memory>

#include "src/cuda/stream.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard::cuda {

/// A timed event of which the rank's time is known.
struct Anchor {
  Event event{Event::Timed::yes};
  std::int64_t time_ns = 0;
  std::int64_t error_ns = 0;  ///< At most; half of what it took to see the event.

  /// @param later timed, reached, and recorded after the anchor.
  std::int64_t time_of(const Event& later) const {
    constexpr double kNsPerMs = 1e6;
    return time_ns + static_cast<std::int64_t>(later.ms_since(event) * kNsPerMs);
  }
};

/// Differences of events are single precision and the two clocks drift, so there is a new anchor each second.
class DeviceClock {
 public:
  explicit DeviceClock(const trace::Recorder& recorder) : recorder_(recorder) { keep(); }

  /// Once a step; some microseconds each second.
  void keep();
  /// For events that are recorded from now on.
  std::shared_ptr<const Anchor> anchor() const { return anchor_; }

 private:
  std::shared_ptr<const Anchor> new_anchor() const;

  const trace::Recorder& recorder_;
  Stream idle_;  ///< Nothing else is queued in it.
  std::shared_ptr<const Anchor> anchor_;
};

}  // namespace steelyard::cuda
