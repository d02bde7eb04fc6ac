#pragma once

/// @file
/// One trial: what is to be run, by which ranks, and what a rank needs for it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "modes/injection.hpp"
#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/placement/placement.hpp"
#include "modes/ps/staleness/staleness.hpp"
#include "modes/tag_scores.hpp"
#include "src/base/stop_signal.hpp"
#include "src/collective/collective.hpp"
#include "src/data/dataset.hpp"
#include "src/data/sampler.hpp"
#include "src/model/model.hpp"
#include "src/mpi/communicator.hpp"
#include "src/mpi/topology.hpp"
#include "src/mpi/wait.hpp"
#include "src/optim/optimizer.hpp"
#include "src/trace/recorder.hpp"

namespace steelyard {

/// The configuration of one trial. Names are checked by `check_trial`.
struct TrialConfig {
  std::string mode = "ps";
  // ps
  int servers = 1;  ///< In allreduce: ranks that stay idle, so that as many work as with that many servers.
  std::string server_ranks = "first";
  std::string placement = "striped";
  ps::PlacementOptions placement_options{};  ///< Servers and copies in memory follow from the rest.
  std::string consistency = "bsp";
  ps::ConsistencyOptions consistency_options{};
  std::string staleness_policy = "keep";  ///< Where pushes are applied alone.
  ps::StalenessOptions staleness_options{};
  std::size_t policy_copies = 0;  ///< ps::policy_copies, where --server-memory is to hold.
  std::size_t bundle_bytes = 128 * 1024;
  std::size_t piece_bytes = 4 * 1024 * 1024;
  std::string transport = "auto";
  std::string aggregate = "auto";
  bool rate_by_workers = false;  ///< asp, ssp: divide the learning rate by the number of workers.
  // allreduce
  std::string collective = "auto";
  std::string wire = "fp32";            ///< In which gradients travel.
  std::string nccl_algorithm = "Ring";  ///< As NCCL_ALGO has it; "auto": NCCL's choice.
  double timeout_s = 60.0;              ///< A GPU that waits longer for the others ends the job.
  bool sharded_optimizer = false;
  std::size_t first_bucket_bytes = 0;
  std::size_t bucket_bytes = 0;
  // both
  std::string device = "cpu";  ///< Where workers compute; cuda: on the GPU that the process has taken.
  std::string optimizer = "momentum";
  OptimizerOptions optimizer_options;
  std::size_t global_batch = 64;
  Step steps = 100;
  std::uint64_t seed = 0;
  bool deterministic = false;
  Step evaluate_every = 0;  ///< Steps between evaluations on the test samples; 0: none on the way.
  bool evaluate_at_end = true;
  double target_accuracy = 0.0;  ///< Whose time is asked for; 0: none.
  Emulation emulation;           ///< replay only.
  Injection injection;
};

namespace ps {
/// Copies of its parameters that a server keeps for the staleness policy.
std::size_t policy_copies(const TrialConfig& config, int workers);
}  // namespace ps

/// Who does what. Ascending world ranks; a rank is in exactly one list.
struct Roles {
  std::vector<Rank> servers;
  std::vector<Rank> workers;
  std::vector<Rank> idle;

  static constexpr int kNone = -1;
  /// Position of `rank` in `list`, or kNone.
  static int index_in(const std::vector<Rank>& list, Rank rank);
};

/// One worker's part of an evaluation.
struct EvaluationPart {
  Step step = 0;             ///< Steps that the values have behind them.
  std::int64_t time_ns = 0;  ///< When the first worker had them all, on its clock; counts there alone.
  double loss_sum = 0.0;
  double correct = 0.0;
  double count = 0.0;
  TagScores tag_scores{};  ///< Of models with tags, instead of `correct`.
};

/// The first that a training met of what is no finite number.
struct Divergence {
  Step step = 0;       ///< Whose forward pass read it, or made it.
  std::string tensor;  ///< Its name, or kTheLoss.
};
inline constexpr const char* kTheLoss = "the loss";

class Stopping;

/// Everything a rank needs for a trial; borrowed by the mode.
struct Session {
  const TrialConfig& config;
  const Roles& roles;
  const ModelSpec& model;
  const Dataset& dataset;
  const mpi::Communicator& world;
  const mpi::Communicator& pushes;   ///< A copy of the world for worker to server.
  const mpi::Communicator& replies;  ///< A copy of the world for server to worker.
  const mpi::Communicator& workers;  ///< Of the workers alone; empty on other ranks.
  const mpi::Topology& topology;
  mpi::Wait wait;
  trace::Recorder& recorder;
  std::function<void(Step)> progress;  ///< Told the number of steps this rank has completed.
  bool keep_values = false;            ///< Whether workers leave the final parameters in final_values.
  std::function<bool()> told_to_stop = stop_signalled;  ///< Whether this rank is to end the trial soon.
  Stopping* stopping = nullptr;                         ///< Of run_session.

  // Results
  std::vector<EvaluationPart> evaluations{};           ///< On workers, by step.
  std::optional<Divergence> divergence{};              ///< On workers that met one.
  bool stopped = false;                                ///< On workers that left out something, being told to.
  std::uint64_t parameter_hash = 0;                    ///< On workers.
  std::string transport{};                             ///< ps: shared, message, or mixed; on every rank.
  std::string aggregate{};                             ///< ps: node or none; on every rank.
  std::vector<CollectiveChoice> collective_choices{};  ///< On workers: what auto took for each bucket.
  std::int64_t choosing_ns = 0;                        ///< On workers: set-up that a trial's time leaves out.
  std::uint64_t drops = 0;                             ///< ps: on workers, own pushes answered as dropped.
  int bucket_rebuilds = 0;                             ///< On workers: times that buckets were made anew.
  std::vector<float> final_values{};                   ///< On workers, tensor by tensor in creation order.
};

}  // namespace steelyard
