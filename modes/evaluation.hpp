#pragma once

/// @file
/// Evaluation on the test samples that does not disturb training: worker 0 copies its values at the chosen
/// steps, and after the last one all workers evaluate the copies, each its part of the samples.

#include <span>
#include <vector>

#include "modes/trial.hpp"
#include "src/base/aligned.hpp"

namespace steelyard {

struct Worker;

inline constexpr std::size_t kEvaluationBatch = 64;
/// Memory for copies of the values, on worker 0.
inline constexpr std::size_t kMostSnapshotBytes = std::size_t{2} << 30U;

/// Copies that a trial makes before its last step; 0 where its number of steps is not known yet.
std::size_t snapshots_of(const TrialConfig& config);
/// Whether they fit into kMostSnapshotBytes; says how many bytes they are, and which options make them fewer.
Status check_snapshots(const TrialConfig& config, const ModelSpec& model);

/// Values of a moment: how many steps they have behind them, and when they were complete.
struct Moment {
  Step step = 0;
  std::int64_t time_ns = 0;  ///< Of the first worker's recorder.
};

/// The copies of one worker: those of the trial on worker 0, none on others.
class Snapshots {
 public:
  Snapshots() = default;
  /// Allocates and touches memory for all copies.
  Snapshots(const TrialConfig& config, const ModelSpec& model, Share share);

  /// Between the forward and the backward pass of `step`, when the values are those after `step` steps:
  /// copies them if this is a chosen step. The copy is in the step's time and in no phase of it; its event is
  /// `evaluate`.
  void take(trace::Recorder& recorder, Parameters& parameters, Step step);

  const std::vector<Moment>& moments() const { return moments_; }
  /// [elements of the model], tensor by tensor in creation order without gaps.
  std::span<float> values(std::size_t index) { return values_.span().subspan(index * elements_, elements_); }

 private:
  Step every_ = 0;  ///< 0: none.
  Step due_ = 0;    ///< The next copy, or at the first step after it: a worker may skip steps, or repeat one.
  std::size_t elements_ = 0;
  AlignedArray<float> values_;
  std::vector<Moment> moments_;
};

/// This worker's part of the test samples with the values of `parameters`, all of which must have arrived.
EvaluationPart evaluate_part(Session& session, Worker& worker, Parameters& parameters, const Moment& moment);

/// Collective over session.workers, after the last step: every snapshot of worker 0, broadcast, each worker
/// its part of the test samples; adds the parts to the session's results. A trial that is stopped leaves out
/// what is not evaluated yet.
void evaluate_snapshots(Session& session, Worker& worker);

/// Collective over session.workers: the figures of an evaluation from all workers' parts. The accuracy of a
/// model with tags is its mean average precision, and known to the first worker alone.
trace::EvaluationRow combined(const Session& session, std::uint16_t trial, const EvaluationPart& part);

}  // namespace steelyard
