#pragma once

/// @file
/// What `train` and `compare` do before their first trial.

#include <memory>
#include <vector>

#include "src/cli/console.hpp"
#include "src/cli/launch.hpp"
#include "src/cli/settings.hpp"

namespace steelyard::cli {

struct Setup {
  RunSettings settings;
  Launch launch;
  Dataset dataset;

  /// Collective: settings, communicators, data. @return nothing where something was wrong; it has been said.
  static std::unique_ptr<Setup> begin(const Options& options);

  Progress progress() const;
  /// Rank 0 prints what each configuration would do. @return the exit code.
  int show_dry_run(const std::vector<TrialConfig>& configs) const;
};

}  // namespace steelyard::cli
