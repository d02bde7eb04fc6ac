#include "src/model/emulation.hpp"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "src/base/clock.hpp"
#include "src/model/csv.hpp"

namespace steelyard {
namespace {

constexpr double kForwardPart = 1.0 / 3.0;
constexpr double kMostMs = 1e6;
// A sleep is late by some microseconds; shorter ones are added up first.
constexpr double kShortestSleepNs = 20'000.0;
constexpr double kMostDebtNs = 200'000.0;

using Reader = CsvReader<3>;

Expected<ComputePlan> read_profile(const std::string& path, const Inventory& inventory) {
  const auto wrong = [&path](const std::string& what) {
    return Error{"compute profile '" + path + "': " + what};
  };
  Reader reader(path);
  reader.read_header(io::ignore_extra_column, "name", "forward_ms", "backward_ms");
  ComputePlan plan;
  std::string name;
  double forward_ms = 0.0;
  double backward_ms = 0.0;
  while (reader.read_row(name, forward_ms, backward_ms)) {
    const std::size_t row = plan.forward_ns.size();
    if (row >= inventory.size() || name != inventory[row].name)
      return wrong("row " + std::to_string(row + 1) + " is '" + name + "', expected '" +
                   (row < inventory.size() ? inventory[row].name : "the end") +
                   "'; one row for every tensor, in the model's order");
    for (const double ms : {forward_ms, backward_ms})
      if (!(ms >= 0.0 && ms <= kMostMs)) return wrong("times of '" + name + "' must be from 0 to 1e6 ms");
    plan.forward_ns.push_back(1e6 * forward_ms);
    plan.backward_ns.push_back(1e6 * backward_ms);
  }
  if (plan.forward_ns.size() != inventory.size())
    return wrong("has " + std::to_string(plan.forward_ns.size()) + " rows, the model " +
                 std::to_string(inventory.size()) + " tensors");
  return plan;
}

void sleep_until(std::int64_t when_ns) {
  make_sleeps_precise();
  const timespec when{when_ns / 1'000'000'000, when_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) != 0) {
  }
}

/// Some arithmetic; returns what keeps the compiler from leaving it out.
float work(float start) {
  for (int i = 0; i < 1000; ++i) start = start * 0.999F + 0.001F;
  return start;
}

}  // namespace

Expected<ComputePlan> plan_compute(const Emulation& emulation, const Inventory& inventory,
                                   const std::vector<double>& operations) {
  if (!emulation.profile.empty()) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(emulation.profile, error))
      return Error{"there is no compute profile '" + emulation.profile +
                   "'; it must be a CSV file name,forward_ms,backward_ms"};
    try {
      return read_profile(emulation.profile, inventory);
    } catch (const std::exception& broken) {
      return Error{"compute profile '" + emulation.profile + "' cannot be read: " + broken.what()};
    }
  }
  const double total = std::accumulate(operations.begin(), operations.end(), 0.0);
  ComputePlan plan;
  for (const double one : operations) {
    const double ns = total > 0.0 ? 1e6 * emulation.compute_ms * one / total : 0.0;
    plan.forward_ns.push_back(ns * kForwardPart);
    plan.backward_ns.push_back(ns * (1.0 - kForwardPart));
  }
  return plan;
}

Expected<Compute> choose_compute(std::string_view name) {
  if (name == "sleep") return Compute::sleep;
  if (name == "quota") return Compute::quota;
  return Error{"unknown way to emulate compute '" + std::string(name) + "'; choose one of: sleep, quota"};
}

std::int64_t ComputeClock::now_ns() const {
  return clock_ns(compute_ == Compute::sleep ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

void ComputeClock::begin() { begin_ns_ = now_ns(); }

void ComputeClock::sleep_for(double after_ns) const {
  const std::int64_t due = begin_ns_ + static_cast<std::int64_t>(after_ns);
  if (static_cast<double>(due - now_ns()) > kShortestSleepNs) sleep_until(due);
}

void ComputeClock::end(double duration_ns) {
  owed_ns_ += duration_ns;
  const std::int64_t due = begin_ns_ + static_cast<std::int64_t>(owed_ns_);
  if (compute_ == Compute::quota) {
    volatile float sink = 1.0F;
    while (now_ns() < due) sink = work(sink);
  } else if (static_cast<double>(due - now_ns()) > kShortestSleepNs) {
    sleep_until(due);
  }
  owed_ns_ = std::max(owed_ns_ - static_cast<double>(now_ns() - begin_ns_), -kMostDebtNs);
}

}  // namespace steelyard
