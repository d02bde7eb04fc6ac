#include "tests/bench/support/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace steelyard::bench {

int iterations(std::size_t bytes, bool quick) {
  constexpr std::size_t kBytesPerRound = 256U << 20U;
  constexpr std::size_t kMost = 400;
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kQuicker = 8;
  const std::size_t count = std::clamp(kBytesPerRound / bytes, kLeast, kMost);
  return static_cast<int>(quick ? std::max<std::size_t>(count / kQuicker, 2) : count);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string size_text(std::size_t bytes) {
  constexpr std::size_t kMebi = 1U << 20U;
  return bytes >= kMebi ? fmt::format("{} MiB", bytes / kMebi) : fmt::format("{} KiB", bytes >> 10U);
}

std::string interval_text(const trace::Estimate& estimate) {
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", estimate.median, estimate.low, estimate.high);
}

}  // namespace steelyard::bench
