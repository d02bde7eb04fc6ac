#pragma once

/// @file
/// The settings of a recorded trial: what run.toml says, what its contestant said otherwise, and what the
/// trace recorded. Two trials with the same settings are repeats of each other.

#include <map>
#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/cli/semantics.hpp"
#include "src/trace/run_file.hpp"

namespace steelyard::cli {

/// Values by name, as in run.toml. What does not apply (a placement of an allreduce) is not there.
using Settings = std::map<std::string, std::string>;

/// run.toml as it was written.
struct RunOptions {
  Settings values;                  ///< Without what is "".
  std::vector<std::string> trials;  ///< --trial, in order.
};

/// @return an error that names the file; it is data and not trusted.
Expected<RunOptions> read_run_options(const std::string& path);

/// @param by_time whether --trial-seconds decided how many steps a trial has.
Settings trial_settings(const RunOptions& options, const trace::RunTables& tables, const trace::TrialRow& row,
                        bool by_time);

/// As semantics_of of the trial's configuration.
Semantics semantics_of(const Settings& settings, const trace::TrialRow& row);

}  // namespace steelyard::cli
