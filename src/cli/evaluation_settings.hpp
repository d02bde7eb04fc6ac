#pragma once

/// @file
/// When a trial is evaluated on the test samples, and the accuracy whose time is asked for.

#include "src/cli/settings.hpp"

namespace steelyard::cli {

/// --evaluate, --evaluate-every, --target-accuracy: whether they go together, and with the model.
Status check_evaluation(const Options& options);

void set_evaluation(const Options& options, TrialRequest& request);

}  // namespace steelyard::cli
