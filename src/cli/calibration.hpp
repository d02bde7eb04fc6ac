#pragma once

/// @file
/// How many steps make a trial of a given time.

#include <nlohmann/json.hpp>

#include "src/cli/contest.hpp"
#include "src/cli/setup.hpp"

namespace steelyard::cli {

/// Steps of a trial that takes about `trial_s` seconds where a step takes `step_s`, rounded up to two digits.
/// At least 2 * warmup + 20, so that most steps count, and at most a million.
Step steps_for(double trial_s, double step_s, Step warmup);

/// Collective: lets every contestant without a number of steps train a moment, and gives all of these the
/// same number, with which their trials take --trial-seconds on the average. Sets --steps in `options`.
/// @return for the manifest: what was measured; null if every contestant had its steps, or a signal said to
/// stop.
nlohmann::json calibrate(const Setup& setup, Contest& contest, Options& options);

}  // namespace steelyard::cli
