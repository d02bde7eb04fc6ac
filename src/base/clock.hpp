#pragma once

/// @file
/// The system's clocks in nanoseconds, and sleeps that keep to them.

#include <sys/prctl.h>
#include <time.h>

#include <cstdint>

namespace steelyard {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// From the first call on this thread's sleeps are exact to a microsecond; the kernel rounds them up by 50 us
/// unless told so.
inline void make_sleeps_precise() {
  static const bool precise = prctl(PR_SET_TIMERSLACK, 1000UL) == 0;
  static_cast<void>(precise);
}

}  // namespace steelyard
