#pragma once

/// @file
/// A mode says which roles a rank plays and how gradients become the next step's parameters.

#include <string>
#include <string_view>

#include "modes/evaluation.hpp"
#include "modes/trial.hpp"

namespace steelyard {

/// The only thing that differs between modes for a worker.
class Synchronizer : public StepObserver {
 public:
  /// Between the forward and the backward pass.
  /// @param last this worker wants no step after this one. @param gives_up it ends the training early: this
  /// step is its last, and where workers do not decide that alike, the others' next one is theirs.
  /// @return whether this step is the last.
  virtual bool is_last(bool last, bool gives_up) { return last || gives_up; }
  /// After the backward pass. With `last`, on return the values are those after the last step.
  virtual void finish_step(Step step, bool last) = 0;
  /// After finish_step: the step to do next. Mostly the one after it; this one again, from newer values; or a
  /// later one.
  virtual Step next_step(Step step) { return step + 1; }
};

/// Payload bytes and messages that move in one step; computed, not measured. Where some servers and workers
/// share memory and others do not, of those that do not. Where the workers of a node push as one, one worker
/// is all of them.
struct StepTraffic {
  struct PerServer {
    std::size_t bytes = 0;     ///< That one worker pushes to it.
    std::size_t elements = 0;  ///< That it owns; each comes back in 4 bytes.
    std::size_t messages = 0;  ///< Of one worker's pushes to it.
    std::size_t tensors = 0;   ///< It owns at least a part of.
  };
  std::vector<PerServer> servers;        ///< ps
  std::optional<ps::Optimum> optimum{};  ///< ps with placement optimal.
  std::size_t buckets = 0;               ///< allreduce
  std::string transport;                 ///< ps: shared, message, or mixed.
  std::string aggregate;                 ///< ps: node or none.
  std::size_t worker_bytes_out = 0;      ///< One worker sends in a step.
  std::size_t worker_messages_out = 0;   ///< ps: messages; allreduce: collective calls.
  std::size_t worker_bytes_in = 0;       ///< One worker receives in a step.
  std::size_t worker_messages_in = 0;    ///< ps
};

/// What a mode can do. `topology` is that of all ranks of the launch.
struct Mode {
  /// Names and numbers that the mode needs, checked; says what is wrong and what is allowed.
  Status (*check)(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology);
  /// @param node_of_rank [ranks]
  Roles (*roles)(const TrialConfig& config, const std::vector<int>& node_of_rank);
  StepTraffic (*traffic)(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology);
  /// Which server owns which piece; empty in modes without servers.
  std::vector<trace::PlacementRow> (*placement)(const TrialConfig& config, const ModelSpec& model);
  /// Runs this rank's role to the end. Collective over the ranks that have one. On return every worker holds
  /// the final parameters and has evaluated them if asked to.
  void (*run)(Session& session);
};

/// @param name one of modes.def.
Expected<const Mode*> find_mode(std::string_view name);
std::string mode_help();

/// Everything about a trial that can be wrong, before anything is run.
Status check_trial(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology);

/// Runs this rank's role in the trial of `session` to the end, with what is injected. Collective over
/// session.world.
void run_session(Session& session);

/// What a worker trains with.
struct Worker {
  Share share;
  Model& model;
  Parameters& parameters;
  Synchronizer& synchronizer;
  float weight = 1.0F;  ///< A sample counts weight / global batch in the gradient.
  Snapshots snapshots{};
};

/// Trains all steps, or to the one in which the training is given up. Used unchanged by every mode.
void worker_loop(Session& session, Worker& worker);

/// Collective over session.workers, with the final values: hashes them, keeps them if asked, and evaluates
/// what is to be evaluated.
void conclude(Session& session, Worker& worker);

/// A model for this worker's largest batch, in training or evaluation.
/// @param synchronous every value that a worker gets is that after all workers' last step.
/// @param stream as ModelRequest's.
std::unique_ptr<Model> make_model(const Session& session, Share share, bool synchronous,
                                  const cuda::Stream* stream = nullptr);

}  // namespace steelyard
