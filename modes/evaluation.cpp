#include "modes/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modes/feeder.hpp"
#include "modes/mode.hpp"
#include "modes/stopping.hpp"

namespace steelyard {
namespace {

/// Of a pass over values that are all here.
class Present final : public StepObserver {
 public:
  void values_needed(TensorId) override {}
  void gradient_ready(TensorId) override {}
};

void add(const Batch& batch, const BatchResult& result, EvaluationPart& part) {
  part.tag_scores.add(batch, result);
  part.loss_sum += result.loss_sum;
  part.correct += static_cast<double>(result.correct);
}

/// Collective: those of worker 0, on every worker.
std::vector<Moment> moments_of_first(const mpi::Communicator& workers, std::vector<Moment> moments) {
  std::size_t count = moments.size();
  mpi::broadcast(workers, std::as_writable_bytes(std::span(&count, 1)), 0);
  moments.resize(count);
  mpi::broadcast(workers, std::as_writable_bytes(std::span(moments)), 0);
  return moments;
}

}  // namespace

std::size_t snapshots_of(const TrialConfig& config) {
  if (config.evaluate_every == 0 || config.steps == 0) return 0;
  return static_cast<std::size_t>((config.steps - 1) / config.evaluate_every);
}

Status check_snapshots(const TrialConfig& config, const ModelSpec& model) {
  const std::size_t bytes = std::max<std::size_t>(total_elements(model.inventory) * sizeof(float), 1);
  const std::size_t wanted = snapshots_of(config);
  const std::size_t most = kMostSnapshotBytes / bytes;
  if (model.replay || wanted <= most) return success();
  const double gib = std::ceil(static_cast<double>(wanted) * static_cast<double>(bytes) / 0x1p30);
  const Step least = (config.steps - 1) / (static_cast<Step>(most) + 1) + 1;
  return Error{"evaluating every " + std::to_string(config.evaluate_every) + " of " +
               std::to_string(config.steps) + " steps keeps " + std::to_string(wanted) +
               " copies of the parameters, " + std::to_string(bytes) + " bytes each, " +
               std::to_string(static_cast<std::int64_t>(gib)) +
               " GiB, and they may take 2 GiB; give --evaluate-every " + std::to_string(least) +
               " or more, fewer --steps, or --evaluate end"};
}

Snapshots::Snapshots(const TrialConfig& config, const ModelSpec& model, Share share) {
  const std::size_t count = model.replay || share.worker != 0 ? 0 : snapshots_of(config);
  if (count == 0) return;
  every_ = due_ = config.evaluate_every;
  elements_ = total_elements(model.inventory);
  values_ = AlignedArray<float>(count * elements_);
  moments_.reserve(count);
}

void Snapshots::take(trace::Recorder& recorder, Parameters& parameters, Step step) {
  if (every_ == 0 || step < due_) return;
  due_ = (step / every_ + 1) * every_;
  const trace::Scope scope(recorder, trace::Phase::evaluate);
  auto to = values(moments_.size()).begin();
  moments_.push_back({step, recorder.now_ns()});
  for (TensorId id = 0; id < parameters.inventory().size(); ++id)
    to = std::ranges::copy(parameters.host_values(id), to).out;
}

EvaluationPart evaluate_part(Session& session, Worker& worker, Parameters& parameters, const Moment& moment) {
  const trace::Scope scope(session.recorder, trace::Phase::evaluate);
  const Samples& test = session.dataset.test;
  const Part own = part_of(test.count, worker.share.worker, worker.share.workers);
  Feeder feeder(session.dataset, kEvaluationBatch, worker.model.staging());
  Present present;
  std::vector<std::uint32_t> which(kEvaluationBatch);
  EvaluationPart part{moment.step, moment.time_ns, 0.0, 0.0, static_cast<double>(own.end - own.begin)};
  for (std::size_t begin = own.begin; begin < own.end; begin += kEvaluationBatch) {
    which.resize(std::min(kEvaluationBatch, own.end - begin));
    std::iota(which.begin(), which.end(), static_cast<std::uint32_t>(begin));
    const Batch batch = feeder.batch(test, which);
    add(batch, worker.model.forward(batch, 0.0F, parameters, present), part);
  }
  return part;
}

void evaluate_snapshots(Session& session, Worker& worker) {
  if (session.model.replay || snapshots_of(session.config) == 0) return;
  session.stopping->barrier(session.workers, session.wait);  // In asp others may still train.
  const auto moments = moments_of_first(session.workers, worker.snapshots.moments());
  const Layout layout = packed_layout(session.model.inventory);
  AlignedArray<float> received(worker.share.worker == 0 ? 0 : layout.elements);
  RemoteMemory* const remote = worker.parameters.remote();
  const std::span<float> there = remote == nullptr ? std::span<float>() : remote->allocate(layout.elements);
  for (std::size_t i = 0; i < moments.size() && !session.stopping->leaves_out(); ++i) {
    const auto values = worker.share.worker == 0 ? worker.snapshots.values(i) : received.span();
    mpi::broadcast(session.workers, std::as_writable_bytes(values), 0);
    if (remote != nullptr) remote->write(values, there);
    const auto seen = remote == nullptr ? values : there;
    // A forward pass writes no gradients, so there need be no memory for them.
    Parameters parameters(session.model.inventory, layout, {seen, seen, remote});
    session.evaluations.push_back(evaluate_part(session, worker, parameters, moments[i]));
  }
}

trace::EvaluationRow combined(const Session& session, std::uint16_t trial, const EvaluationPart& part) {
  const mpi::Communicator& workers = session.workers;
  const double count = mpi::sum(workers, part.count);
  const double loss = mpi::sum(workers, part.loss_sum) / count;
  const double accuracy = session.model.tagged
                              ? mean_average_precision(workers, part.tag_scores, session.model.classes)
                              : mpi::sum(workers, part.correct) / count;
  return {trial, part.step, part.time_ns, loss, accuracy};
}

}  // namespace steelyard
