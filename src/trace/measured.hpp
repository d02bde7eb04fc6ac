#pragma once

/// @file
/// What the figures of a trial start from: the ranks of a role, and the steps that count for timings.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "src/trace/trial_data.hpp"

namespace steelyard::trace {

/// Borrowed from `trial`, in the order of their indices; the place in the list is the index that figures use.
std::vector<const RankTrial*> ranks_with(const TrialData& trial, const char* role);

/// The steps that count for timings: those after the warm-up that every worker has completed.
struct Window {
  std::int64_t begin;
  std::int64_t end;
  bool holds(std::int64_t step) const { return begin <= step && step < end; }
  std::int64_t size() const { return std::max<std::int64_t>(0, end - begin); }
};

/// A run cut short within the warm-up is still shown, all of it.
Window window_of(const TrialData& trial, const std::vector<const RankTrial*>& workers);

/// What a worker itself computed in a step: data, forward, backward, update.
double compute_ns(const StepRow& row);
/// Wall time of a step.
double step_ns(const StepRow& row);

/// Arithmetic mean; 0 of none.
double mean_of(std::span<const double> x);

}  // namespace steelyard::trace
