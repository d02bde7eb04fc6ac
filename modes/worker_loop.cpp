#include <algorithm>

#include "modes/divergence.hpp"
#include "modes/feeder.hpp"
#include "modes/mode.hpp"
#include "modes/slowed.hpp"
#include "modes/stopping.hpp"
#include "src/base/check.hpp"

namespace steelyard {
namespace {

std::size_t largest_batch(const Session& session) {
  const Sampler sampler(session.dataset.train.count, session.config.global_batch, session.config.seed);
  return std::max(sampler.largest_slice(static_cast<int>(session.roles.workers.size())), kEvaluationBatch);
}

float mean_loss(const BatchResult& result, std::size_t count) {
  return count == 0 ? 0.0F : static_cast<float>(result.loss_sum / static_cast<double>(count));
}

/// Which step is the last: that of the number asked for, or an earlier one.
class End {
 public:
  /// Both are borrowed.
  End(Session& session, Worker& worker) : session_(session), worker_(worker), watch_(session, worker) {}

  /// Between the forward and the backward pass; where a pass is made again the first one counts, because it
  /// alone pushes every bundle. @param loss this worker's.
  void look(Step step, float loss) {
    if (step == looked_at_) return;
    looked_at_ = step;
    const bool told = session_.stopping->ends(step);
    const bool together = session_.stopping->in_step();
    const bool diverged = watch_.stops(step, loss);
    const bool last = step + 1 == session_.config.steps;
    // What all workers have agreed on is an end like any other; their last pushes count.
    last_ = worker_.synchronizer.is_last(last || (told && together), diverged || (told && !together));
  }
  /// Whether the step under way is the last.
  bool is_last() const { return last_; }

 private:
  Session& session_;
  Worker& worker_;
  DivergenceWatch watch_;
  Step looked_at_ = -1;
  bool last_ = false;
};

/// The gradient weight of one sample of this step.
float sample_scale(const Worker& worker, const Sampler& sampler, Step step) {
  return worker.weight / static_cast<float>(sampler.batch_size(step));
}

/// Forward and backward over one batch, and what the synchronizer makes of it. @return the mean loss.
float pass(Session& session, Worker& worker, const Batch& batch, float scale, End& end) {
  using trace::Phase;
  trace::Recorder& recorder = session.recorder;
  const Step step = recorder.step();
  float loss = 0.0F;
  {
    const trace::Scope scope(recorder, Phase::forward);
    const BatchResult result = worker.model.forward(batch, scale, worker.parameters, worker.synchronizer);
    loss = mean_loss(result, batch.count);
  }
  worker.snapshots.take(recorder, worker.parameters, step);
  end.look(step, loss);
  {
    const trace::Scope scope(recorder, Phase::backward);
    worker.model.backward(batch, worker.parameters, worker.synchronizer);
  }
  worker.synchronizer.finish_step(step, end.is_last());
  session.stopping->progress();
  return loss;
}

std::unique_ptr<Model> make_unslowed(const Session& session, Share share, bool synchronous,
                                     const cuda::Stream* stream) {
  const TrialConfig& config = session.config;
  ModelRequest request{largest_batch(session), share, synchronous};
  request.stream = stream;
  if (!session.model.replay) return session.model.make(request);
  request.cuts.resize(session.model.inventory.size());
  for (const trace::PlacementRow& piece : find_mode(config.mode).value()->placement(config, session.model))
    request.cuts[static_cast<std::size_t>(piece.tensor)].push_back(piece.end);
  for (auto& ends : request.cuts) std::ranges::sort(ends);
  request.optimizer = config.optimizer;
  request.optimizer_options = config.optimizer_options;
  request.emulation = config.emulation;
  return session.model.make(request);
}

}  // namespace

std::unique_ptr<Model> make_model(const Session& session, Share share, bool synchronous,
                                  const cuda::Stream* stream) {
  auto model = make_unslowed(session, share, synchronous, stream);
  const TrialConfig& config = session.config;
  if (!config.injection.slows_worker(share.worker)) return model;
  constexpr double kNsPerMs = 1e6;
  const auto factor = [&session, worker = share.worker] {
    return session.config.injection.compute_factor(worker, session.recorder.step(), session.config.seed);
  };
  const bool beside = session.model.replay && config.emulation.compute == "sleep";
  return std::make_unique<SlowedModel>(
      std::move(model), SlowedModel::Pace{factor, config.emulation.grain_ms * kNsPerMs, beside});
}

void worker_loop(Session& session, Worker& worker) {
  trace::Recorder& recorder = session.recorder;
  const TrialConfig& config = session.config;
  Sampler sampler(session.dataset.train.count, config.global_batch, config.seed);
  Feeder feeder(session.dataset, largest_batch(session), worker.model.staging());
  worker.snapshots = Snapshots(config, session.model, worker.share);
  End end(session, worker);

  for (Step step = 0; step < config.steps && !end.is_last();) {
    recorder.begin_step(step);
    set_step_of_messages(step);
    recorder.flush_if_due();
    Batch batch;
    {
      const trace::Scope scope(recorder, trace::Phase::data);
      batch = feeder.batch(session.dataset.train, sampler.slice(step, worker.share));
    }
    session.stopping->progress();
    float loss = 0.0F;
    Step next = step;
    while (next == step) {
      loss = pass(session, worker, batch, sample_scale(worker, sampler, step), end);
      next = worker.synchronizer.next_step(step);
    }
    recorder.end_step(static_cast<std::uint32_t>(batch.count), loss);
    session.progress(step + 1);
    step = next;
  }
  set_step_of_messages(-1);
}

void conclude(Session& session, Worker& worker) {
  const Moment end{session.recorder.step() + 1, session.recorder.now_ns()};
  session.parameter_hash = worker.parameters.hash();
  for (TensorId id = 0; session.keep_values && id < session.model.inventory.size(); ++id) {
    const auto values = worker.parameters.host_values(id);
    session.final_values.insert(session.final_values.end(), values.begin(), values.end());
  }
  if (session.model.replay)
    worker.model.forward({}, 0.0F, worker.parameters, worker.synchronizer);  // Checks the final values too.
  check_final_values(session, worker, end.step);
  evaluate_snapshots(session, worker);
  if (session.config.evaluate_at_end && !session.model.replay && !session.stopping->leaves_out())
    session.evaluations.push_back(evaluate_part(session, worker, worker.parameters, end));
}

}  // namespace steelyard
