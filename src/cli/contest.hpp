#pragma once

/// @file
/// Who takes part in a comparison, and which ratios are asked for.

#include <string>
#include <vector>

#include "src/cli/options.hpp"
#include "src/cli/settings.hpp"
#include "src/cli/verdict.hpp"

namespace steelyard::cli {

struct Contestant {
  std::string label;
  TrialConfig config;
  Step warmup = 0;
  std::string specification{};  ///< As given by --trial.
};

struct Contest {
  std::vector<Contestant> contestants;
  std::vector<Ratio> ratios;  ///< Without rounds.
};

/// The usual contest: ps with each number of `--servers`, allreduce on all ranks, and allreduce with as many
/// workers as each ps has. With `--trial`, those instead, the first against each other.
Expected<Contest> make_contest(const Options& options, const ModelSpec& model, std::size_t samples,
                               const mpi::Topology& topology);

}  // namespace steelyard::cli
