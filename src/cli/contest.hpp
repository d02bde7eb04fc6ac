#pragma once

/// @file
/// Who takes part in a comparison, and which ratios are asked for.

#include <string>
#include <vector>

#include "src/cli/options.hpp"
#include "src/cli/semantics.hpp"
#include "src/cli/settings.hpp"
#include "src/cli/verdict.hpp"
#include "src/trace/resources.hpp"

namespace steelyard::cli {

struct Contestant {
  std::string label;
  TrialConfig config;
  Step warmup = 0;
  std::string specification{};  ///< As given by --trial.
  Semantics semantics{};
  trace::Resources resources{};
};

struct Contest {
  std::vector<Contestant> contestants;
  /// Of images/s, without rounds: at equal ranks and workers, and by nodes where contestants have unlike
  /// numbers of them, and by price where one is given.
  std::vector<Ratio> ratios;
  double target_accuracy = 0.0;        ///< 0: none was asked for.
  std::vector<Ratio> target_ratios{};  ///< With a target: the same pairs by their times to it.
};

/// The ratios that the verdict follows from: by times where a target is given and some contestants are
/// unlike, else by images/s.
const std::vector<Ratio>& decisive_ratios(const Contest& contest);

/// Drops the ratios of contestants that are gone. Where all at equal ranks had one of these for an opponent,
/// the first that is left takes its place. @param gone [contestants]
void leave_out(Contest& contest, const std::vector<bool>& gone);

/// The usual contest: ps with each number of `--servers`, allreduce on all ranks, and allreduce with as many
/// workers as each ps has. With `--trial`, those instead, the first against each other.
Expected<Contest> make_contest(const Options& options, const ModelSpec& model, std::size_t samples,
                               const mpi::Topology& topology);

}  // namespace steelyard::cli
