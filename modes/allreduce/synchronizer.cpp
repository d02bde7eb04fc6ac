#include "modes/allreduce/synchronizer.hpp"

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
      started_ns_(plan.buckets.size()) {
  for (const Bucket& bucket : plan_.buckets) {
    missing_.push_back(bucket.tensors.size());
    collective_.add(parameters_.gradient_arena().subspan(bucket.begin, bucket.end - bucket.begin));
  }
}

void AllreduceSynchronizer::gradient_ready(TensorId tensor) {
  --missing_[plan_.bucket_of[tensor]];
  const trace::Scope scope(session_.recorder, Phase::push);
  start_ready_buckets();
  // Large transfers advance only inside MPI: give those under way a chance between layers.
  if (started_ > 0) collective_.test(static_cast<int>(started_) - 1);
}

void AllreduceSynchronizer::start_ready_buckets() {
  for (; started_ < plan_.buckets.size() && missing_[started_] == 0; ++started_) {
    started_ns_[started_] = session_.recorder.now_ns();
    collective_.start(static_cast<int>(started_));
  }
}

void AllreduceSynchronizer::finish_step(Step step, bool) {
  for (std::size_t i = 0; i < plan_.buckets.size(); ++i) complete(i, step);
  started_ = 0;
}

void AllreduceSynchronizer::complete(std::size_t index, Step step) {
  trace::Recorder& recorder = session_.recorder;
  const Bucket& bucket = plan_.buckets[index];
  const std::size_t elements = bucket.end - bucket.begin;
  const std::size_t bytes = allreduce_bytes_sent(elements * wire_bytes_, session_.workers.size());
  {
    const trace::Scope scope(recorder, Phase::wait);
    mpi::wait_until(session_.wait, [&] { return collective_.test(static_cast<int>(index)); });
  }
  recorder.event(Phase::allreduce, step, started_ns_[index], -1, -1, elements * wire_bytes_);
  recorder.count_sent(bytes, 1);
  recorder.count_received(bytes, 0);
  missing_[index] = bucket.tensors.size();

  const trace::Scope scope(recorder, Phase::update);
  const auto values = parameters_.value_arena().subspan(bucket.begin, elements);
  const std::size_t per_element = optimizer_.state_per_element();
  optimizer_.apply({values, parameters_.gradient_arena().subspan(bucket.begin, elements), values,
                    state_.span().subspan(bucket.begin * per_element, elements * per_element), step + 1});
}

}  // namespace steelyard::allreduce
