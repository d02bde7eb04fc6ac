#pragma once

/// @file
/// A server that takes longer over a request than it needs (`--slow server=N:apply=F`).

#include <cstdint>

#include "src/base/clock.hpp"
#include "src/model/emulation.hpp"

namespace steelyard::ps {

/// Sleeps for as long as what lies between begin() and end() took of the thread's CPU time, times factor - 1.
/// With a factor of 1 it does nothing.
class ApplyDelay {
 public:
  explicit ApplyDelay(double factor) : longer_by_(factor - 1.0) {}

  void begin() {
    if (longer_by_ > 0.0) begin_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  }
  /// Delays too short to sleep are made good by a later one. @return nanoseconds of this delay.
  std::int64_t end() {
    if (longer_by_ <= 0.0) return 0;
    const double delay_ns = longer_by_ * static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns_);
    sleep_.begin();
    sleep_.end(delay_ns);
    return static_cast<std::int64_t>(delay_ns);
  }

 private:
  double longer_by_;
  ComputeClock sleep_{Compute::sleep};
  std::int64_t begin_ns_ = 0;
};

}  // namespace steelyard::ps
