#include "modes/allreduce/synchronizer.hpp"

#include <algorithm>

namespace steelyard::allreduce {

using trace::Phase;

AllreduceSynchronizer::AllreduceSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                                             Collective& collective, const Optimizer& optimizer)
    : session_(session),
      plan_(plan),
      parameters_(parameters),
      collective_(collective),
      optimizer_(optimizer),
      wire_bytes_(wire_bytes(session.config)),
      state_(plan.layout.elements * optimizer.state_per_element()),
      started_ns_(plan.buckets.size()),
      under_way_(plan.buckets.size()) {
  for (const Bucket& bucket : plan_.buckets) {
    missing_.push_back(bucket.tensors.size());
    collective_.add(parameters_.gradient_arena().subspan(bucket.begin, elements(bucket)));
  }
}

void AllreduceSynchronizer::values_needed(TensorId tensor) {
  complete(plan_.bucket_of[tensor]);
  progress();
}

void AllreduceSynchronizer::gradient_ready(TensorId tensor) {
  --missing_[plan_.bucket_of[tensor]];
  const trace::Scope scope(session_.recorder, Phase::push);
  start_ready_buckets();
  progress();
}

void AllreduceSynchronizer::progress() {
  // Large transfers advance only inside MPI. The last bucket is the last to be complete.
  const auto last = std::find(under_way_.rbegin(), under_way_.rend(), true);
  if (last == under_way_.rend()) return;
  const auto number = static_cast<int>(under_way_.rend() - last) - 1;
  chance_.use([&] { return collective_.test(number); });
}

void AllreduceSynchronizer::start_ready_buckets() {
  for (; started_ < plan_.buckets.size() && missing_[started_] == 0; ++started_) {
    const std::size_t bytes =
        allreduce_bytes_sent(elements(plan_.buckets[started_]) * wire_bytes_, session_.workers.size());
    session_.recorder.count_sent(bytes, 1);
    session_.recorder.count_received(bytes, 0);
    started_ns_[started_] = session_.recorder.now_ns();
    collective_.start(static_cast<int>(started_));
    under_way_[started_] = true;
  }
}

void AllreduceSynchronizer::finish_step(Step step, bool last) {
  step_ = step;
  started_ = 0;
  for (std::size_t i = 0; i < plan_.buckets.size(); ++i) {
    missing_[i] = plan_.buckets[i].tensors.size();
    if (last) complete(i);
  }
}

void AllreduceSynchronizer::complete(std::size_t index) {
  if (!under_way_[index]) return;
  trace::Recorder& recorder = session_.recorder;
  const Bucket& bucket = plan_.buckets[index];
  {
    const trace::Scope scope(recorder, Phase::wait);
    mpi::wait_until(session_.wait, [&] { return collective_.test(static_cast<int>(index)); });
  }
  recorder.event(Phase::allreduce, step_, started_ns_[index], -1, -1, elements(bucket) * wire_bytes_);
  under_way_[index] = false;

  const trace::Scope scope(recorder, Phase::update);
  const auto values = parameters_.value_arena().subspan(bucket.begin, elements(bucket));
  const std::size_t per_element = optimizer_.state_per_element();
  optimizer_.apply({values, parameters_.gradient_arena().subspan(bucket.begin, elements(bucket)), values,
                    state_.span().subspan(bucket.begin * per_element, elements(bucket) * per_element),
                    step_ + 1});
}

}  // namespace steelyard::allreduce
