#pragma once

/// @file
/// Runs trials through the real modes without files, and the serial algorithm beside them.

#include <functional>
#include <vector>

#include "modes/mode.hpp"
#include "src/cli/launch.hpp"
#include "src/trace/trial_data.hpp"

namespace steelyard::test {

/// A small data set of the model's shape. `train` is chosen so that the last batch of an epoch is short.
Dataset small_dataset(const ModelSpec& model, std::size_t train = 100);

/// One launch for all tests of a program.
const cli::Launch& launch();

struct Outcome {
  std::vector<float> values;                ///< Final parameters, on every rank.
  std::uint64_t hash = 0;                   ///< On every rank.
  std::uint64_t own_hash = 0;               ///< As this rank has it; 0 where it does not work.
  std::vector<trace::RankTrial> ranks;      ///< What each recorded, on rank 0.
  std::vector<EvaluationPart> evaluations;  ///< This worker's.
};

/// Collective: the launch's ranks as if they were on `nodes` nodes in turn, for what differs between nodes.
mpi::Topology pretend_nodes(int nodes);

/// How servers and workers may talk: a transport, on how many pretended nodes, and who pushes as one.
struct Way {
  const char* transport;
  int nodes;
  const char* aggregate = "auto";
};
inline constexpr Way kWays[] = {{"message", 1}, {"shared", 1},       {"auto", 2, "none"},
                                {"auto", 2},    {"auto", 3, "none"}, {"auto", 3}};

/// Collective: runs `config` on all ranks. @param progress is told every step that this rank completes.
Outcome run_trial(
    const TrialConfig& config, const ModelSpec& model, const Dataset& dataset,
    const std::function<void(Step)>& progress = [](Step) {},
    const mpi::Topology& topology = launch().topology);

/// The same training by one process, one batch at a time, with neither Synchronizer nor messages.
std::vector<float> serial(const TrialConfig& config, const ModelSpec& model, const Dataset& dataset);

/// Greatest ||a - b|| / ||b|| over the tensors.
double distance(const ModelSpec& model, const std::vector<float>& a, const std::vector<float>& b);

}  // namespace steelyard::test
