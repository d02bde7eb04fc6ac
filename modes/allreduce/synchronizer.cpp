#include "modes/allreduce/synchronizer.hpp"

#include <algorithm>
#include <utility>

namespace steelyard::allreduce {

using trace::Phase;

AllreduceSynchronizer::AllreduceSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                                             std::unique_ptr<Collective> collective,
                                             const Optimizer& optimizer)
    : session_(session),
      plan_(plan),
      parameters_(parameters),
      collective_(std::move(collective)),
      optimizer_(optimizer),
      wire_bytes_(wire_bytes(session.config)),
      full_(plan),
      slices_(optimizer.state_per_element(), plan.layout.elements),
      started_ns_(plan.buckets.size()),
      under_way_(plan.buckets.size()) {
  for (const Bucket& bucket : plan_.buckets) {
    slices_.add({bucket.begin, elements(bucket)});
    collective_->add(parameters_.gradient_arena().subspan(bucket.begin, elements(bucket)));
  }
  slices_.allocate();
}

void AllreduceSynchronizer::values_needed(TensorId tensor) {
  complete(plan_.bucket_of[tensor]);
  progress();
}

void AllreduceSynchronizer::gradient_ready(TensorId tensor) {
  const trace::Scope scope(session_.recorder, Phase::push);
  full_.ready(tensor, [this](std::size_t bucket) { start(bucket); });
  progress();
}

void AllreduceSynchronizer::progress() {
  // Large transfers advance only inside MPI. The last bucket is the last to be complete.
  const auto last = std::find(under_way_.rbegin(), under_way_.rend(), true);
  if (last == under_way_.rend()) return;
  const auto number = static_cast<int>(under_way_.rend() - last) - 1;
  chance_.use([&] { return collective_->test(number); });
}

void AllreduceSynchronizer::start(std::size_t bucket) {
  const std::size_t bytes =
      allreduce_bytes_sent(elements(plan_.buckets[bucket]) * wire_bytes_, session_.workers.size());
  session_.recorder.count_sent(bytes, 1);
  session_.recorder.count_received(bytes, 0);
  started_ns_[bucket] = session_.recorder.now_ns();
  collective_->start(static_cast<int>(bucket));
  under_way_[bucket] = true;
}

void AllreduceSynchronizer::finish_step(Step step, bool last) {
  step_ = step;
  full_.next_step();
  for (std::size_t i = 0; last && i < plan_.buckets.size(); ++i) complete(i);
}

void AllreduceSynchronizer::complete(std::size_t index) {
  if (!under_way_[index]) return;
  trace::Recorder& recorder = session_.recorder;
  const Bucket& bucket = plan_.buckets[index];
  {
    const trace::Scope scope(recorder, Phase::wait);
    mpi::wait_until(session_.wait, [&] { return collective_->test(static_cast<int>(index)); });
  }
  recorder.event(Phase::allreduce, step_, started_ns_[index], -1, -1, elements(bucket) * wire_bytes_);
  under_way_[index] = false;

  const trace::Scope scope(recorder, Phase::update);
  const auto values = parameters_.value_arena().subspan(bucket.begin, elements(bucket));
  optimizer_.apply({values, parameters_.gradient_arena().subspan(bucket.begin, elements(bucket)), values,
                    slices_.state(index), step_ + 1});
}

}  // namespace steelyard::allreduce
