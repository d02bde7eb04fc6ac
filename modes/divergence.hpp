#pragma once

/// @file
/// Notices when a training has values or losses that are no finite numbers.

#include <optional>
#include <string>

#include "modes/trial.hpp"

namespace steelyard {

struct Worker;

/// One worker's look at its training, step by step.
///
/// A logit that is not finite makes the gradient of the last tensor, the last layer's bias, so too. Hence one
/// step after any worker's loss went wrong that tensor's values are wrong on all workers that share an
/// update. In allreduce and bsp every worker sees this at the same step, and all stop together without a
/// message.
class DivergenceWatch {
 public:
  /// Both are borrowed.
  DivergenceWatch(Session& session, Worker& worker) : session_(session), worker_(worker) {}

  /// Between the forward and the backward pass of `step`. Writes down what is not finite if it is the first
  /// that this worker meets, and gives up the training where the rule above says so. Costs a look at the last
  /// tensor. @param loss the worker's mean in this step.
  /// @return whether the step under way is to be the last one of this worker.
  bool stops(Step step, float loss);

 private:
  Session& session_;
  Worker& worker_;
};

/// After the last step, when a worker has the final values: these must be finite too. @param completed steps.
void check_final_values(Session& session, Worker& worker, Step completed);

/// Collective: of what any rank met that of the least step, on every rank; of equal steps the lowest rank's.
std::optional<Divergence> earliest(const mpi::Communicator& ranks, const std::optional<Divergence>& mine);

}  // namespace steelyard
