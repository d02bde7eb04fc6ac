#include <algorithm>
#include <numeric>
#include <utility>

#include "modes/feeder.hpp"
#include "modes/mode.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kEvaluationBatch = 64;

std::size_t largest_batch(const Session& session) {
  const Sampler sampler(session.dataset.train.count, session.config.global_batch, session.config.seed);
  return std::max(sampler.largest_slice(static_cast<int>(session.roles.workers.size())), kEvaluationBatch);
}

float mean_loss(const BatchResult& result, std::size_t count) {
  return count == 0 ? 0.0F : static_cast<float>(result.loss_sum / static_cast<double>(count));
}

/// The gradient weight of one sample of this step.
float sample_scale(const Worker& worker, const Sampler& sampler, Step step) {
  return worker.weight / static_cast<float>(sampler.batch_size(step));
}

}  // namespace

std::unique_ptr<Model> make_model(const Session& session, Share share, bool synchronous) {
  const TrialConfig& config = session.config;
  ModelRequest request{largest_batch(session), share, synchronous};
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

void worker_loop(Session& session, Worker& worker) {
  using trace::Phase;
  trace::Recorder& recorder = session.recorder;
  const TrialConfig& config = session.config;
  Sampler sampler(session.dataset.train.count, config.global_batch, config.seed);
  Feeder feeder(session.dataset, largest_batch(session));

  for (Step step = 0; step < config.steps; ++step) {
    const bool last = step + 1 == config.steps;
    recorder.begin_step(step);
    recorder.flush_if_due();
    Batch batch;
    {
      const trace::Scope scope(recorder, Phase::data);
      batch = feeder.batch(session.dataset.train, sampler.slice(step, worker.share));
    }
    BatchResult result;
    {
      const trace::Scope scope(recorder, Phase::forward);
      result = worker.model.forward(batch, sample_scale(worker, sampler, step), worker.parameters,
                                    worker.synchronizer);
    }
    {
      const trace::Scope scope(recorder, Phase::backward);
      worker.model.backward(batch, worker.parameters, worker.synchronizer);
    }
    worker.synchronizer.finish_step(step, last);
    recorder.end_step(static_cast<std::uint32_t>(batch.count), mean_loss(result, batch.count));
    if (!last && config.evaluate_every > 0 && !session.model.replay &&
        (step + 1) % config.evaluate_every == 0)
      evaluate_part(session, worker, step + 1);
    session.progress(step + 1);
  }
}

void conclude(Session& session, Worker& worker) {
  session.parameter_hash = worker.parameters.hash();
  for (TensorId id = 0; session.keep_values && id < session.model.inventory.size(); ++id) {
    const auto values = worker.parameters.values(id);
    session.final_values.insert(session.final_values.end(), values.begin(), values.end());
  }
  if (session.model.replay)
    worker.model.forward({}, 0.0F, worker.parameters, worker.synchronizer);  // Checks the final values too.
  else if (session.config.evaluate_at_end)
    evaluate_part(session, worker, session.config.steps);
}

void evaluate_part(Session& session, Worker& worker, Step completed) {
  const trace::Scope scope(session.recorder, trace::Phase::evaluate);
  const Samples& test = session.dataset.test;
  const Part own = part_of(test.count, worker.share.worker, worker.share.workers);
  Feeder feeder(session.dataset, kEvaluationBatch);
  std::vector<std::uint32_t> which(kEvaluationBatch);
  EvaluationPart part{completed, session.recorder.now_ns(), 0.0, 0.0,
                      static_cast<double>(own.end - own.begin)};
  for (std::size_t begin = own.begin; begin < own.end; begin += kEvaluationBatch) {
    which.resize(std::min(kEvaluationBatch, own.end - begin));
    std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(begin));
    const Batch batch = feeder.batch(test, which);
    const BatchResult result = worker.model.forward(batch, 0.0F, worker.parameters, worker.synchronizer);
    part.loss_sum += result.loss_sum;
    part.correct += static_cast<double>(result.correct);
    part.tag_scores.add(batch, result);
  }
  session.evaluations.push_back(std::move(part));
}

}  // namespace steelyard
