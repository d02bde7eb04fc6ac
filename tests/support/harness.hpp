#pragma once

/// @file
/// Runs trials through the real modes without files, and the serial algorithm beside them.

#include <functional>
#include <optional>
#include <vector>

#include "modes/mode.hpp"
#include "src/cli/launch.hpp"
#include "src/trace/trial_data.hpp"

namespace steelyard::test {

/// A small data set of the model's shape, or of the data that it is made for. `train` is chosen so that the
/// last batch of an epoch is short.
Dataset small_dataset(const ModelSpec& model, std::size_t train = 100);

/// One launch for all tests of a program.
const cli::Launch& launch();

struct Outcome {
  std::vector<float> values;                ///< Final parameters, on every rank.
  std::uint64_t hash = 0;                   ///< On every rank.
  std::uint64_t own_hash = 0;               ///< As this rank has it; 0 where it does not work.
  std::vector<trace::RankTrial> ranks;      ///< What each recorded, on rank 0.
  std::vector<EvaluationPart> evaluations;  ///< This worker's.
  std::vector<CollectiveChoice> choices;    ///< This worker's.
  int bucket_rebuilds = 0;                  ///< This worker's.
  std::uint64_t drops = 0;                  ///< That this worker has heard of.
  bool stopped = false;                     ///< On every rank.
  std::optional<Divergence> divergence;     ///< The earliest of all ranks, on every rank.
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

/// Bundles, pieces and buckets small enough that small models have several; the last batch of an epoch of
/// small_dataset has 4 samples, fewer than 7 ranks.
TrialConfig small_config(Step steps);

/// `config` as allreduce on all ranks.
TrialConfig allreduce(TrialConfig config, const char* collective = "auto");

/// A wire of 16 bits, and how far it may lead 20 steps astray. A gradient has a relative error of u = 2^-11
/// or 2^-8 per rounding; values are off by that part of what the training has moved them, and the errors
/// mostly cancel: about u. Only for models without rectifiers, whose kinks would turn rounding into jumps.
struct NarrowWire {
  const char* name;
  double tolerance;
};
inline constexpr NarrowWire kNarrowWires[] = {{"fp16", 2 * 0x1p-11}, {"bf16", 2 * 0x1p-8}};

/// Collective: runs `config` on all ranks. @param progress is told every step that this rank completes.
/// @param told whether this rank is to end the trial.
Outcome run_trial(
    const TrialConfig& config, const ModelSpec& model, const Dataset& dataset,
    const std::function<void(Step)>& progress = [](Step) {},
    const mpi::Topology& topology = launch().topology, const std::function<bool()>& told = stop_signalled);

/// The same training by one process, one batch at a time, with neither Synchronizer nor messages.
std::vector<float> serial(const TrialConfig& config, const ModelSpec& model, const Dataset& dataset);

/// Greatest ||a - b|| / ||b|| over the tensors.
double distance(const ModelSpec& model, const std::vector<float>& a, const std::vector<float>& b);

}  // namespace steelyard::test
