#include "modes/allreduce/cuda/nccl_synchronizer.hpp"

#include <variant>

#include "kernels/cuda/update.hpp"
#include "src/collective/collective.hpp"

namespace steelyard::allreduce {

using trace::Phase;

NcclSynchronizer::NcclSynchronizer(Session& session, const BucketPlan& plan, Parameters& device,
                                   NcclGroup& group, const cuda::Stream& compute, const Optimizer& optimizer)
    : session_(session),
      plan_(plan),
      device_(device),
      group_(group),
      compute_(compute),
      optimizer_(optimizer),
      clock_(session.recorder),
      state_(plan.layout.elements * optimizer.state_per_element()),
      full_(plan),
      under_way_(plan.buckets.size()) {
  for (auto& sums : sums_) sums = std::vector<Sum>(plan.buckets.size());
  group_.enlist(device_.gradient_arena());
}

void NcclSynchronizer::values_needed(TensorId tensor) { update(plan_.bucket_of[tensor]); }

void NcclSynchronizer::gradient_ready(TensorId tensor) {
  const trace::Scope scope(session_.recorder, Phase::push);
  full_.ready(tensor, [this](std::size_t bucket) { start(bucket); });
  progress();
}

void NcclSynchronizer::start(std::size_t bucket) {
  const auto gradients = part(device_.gradient_arena(), bucket);
  const std::size_t bytes = allreduce_bytes_sent(gradients.size_bytes(), session_.workers.size());
  session_.recorder.count_sent(bytes, 1);
  session_.recorder.count_received(bytes, 0);
  const Step step = session_.recorder.step();
  Sum& sum = sums_[static_cast<std::size_t>(step) % kSteps][bucket];
  note(sum, bucket);
  group_.begin_step(step);
  compute_.record(made_);
  communication_.wait(made_);
  communication_.record(sum.begin);
  group_.allreduce(gradients, communication_);
  communication_.record(sum.end);
  sum.anchor = clock_.anchor();
  sum.step = step;
  under_way_[bucket] = &sum;
}

void NcclSynchronizer::update(std::size_t bucket) {
  const Sum* sum = std::exchange(under_way_[bucket], nullptr);
  if (sum == nullptr) return;
  compute_.wait(sum->end);
  const auto values = part(device_.value_arena(), bucket);
  const kernels::UpdateArrays arrays{
      values.size(), values.data(), part(device_.gradient_arena(), bucket).data(), values.data(),
      state_.data() + plan_.buckets[bucket].begin * optimizer_.state_per_element()};
  std::visit([&](const auto& rule) { kernels::update(compute_.queue(), rule, arrays); },
             optimizer_.rule(sum->step + 1));
}

void NcclSynchronizer::note(Sum& sum, std::size_t bucket) {
  if (sum.anchor == nullptr) return;
  group_.await(sum.end);
  session_.recorder.event_between(Phase::allreduce, sum.step, sum.anchor->time_of(sum.begin),
                                  sum.anchor->time_of(sum.end),
                                  elements(plan_.buckets[bucket]) * sizeof(float));
  sum.anchor = nullptr;
}

void NcclSynchronizer::finish_step(Step step, bool last) {
  full_.next_step();
  for (std::size_t bucket = 0; last && bucket < plan_.buckets.size(); ++bucket) update(bucket);
  const auto now = static_cast<std::size_t>(step) % kSteps;
  compute_.record(queued_[now]);
  {
    const trace::Scope scope(session_.recorder, Phase::backward);
    group_.await(queued_[last ? now : (now + 1) % kSteps]);
  }
  clock_.keep();
  for (auto& sums : sums_)
    for (std::size_t bucket = 0; last && bucket < sums.size(); ++bucket) note(sums[bucket], bucket);
}

}  // namespace steelyard::allreduce
