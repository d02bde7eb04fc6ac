#include "modes/allreduce/sharded.hpp"

#include <algorithm>
#include <utility>

#include "modes/allreduce/synchronizer.hpp"

namespace steelyard::allreduce {

using trace::Phase;

ShardedSynchronizer::ShardedSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                                         std::unique_ptr<SplitCollective> collective,
                                         const Optimizer& optimizer, Step first)
    : session_(session),
      plan_(plan),
      parameters_(parameters),
      collective_(std::move(collective)),
      optimizer_(optimizer),
      bytes_per_element_(wire_bytes(session.config)),
      full_(plan),
      slices_(optimizer.state_per_element(), plan.layout.elements),
      started_ns_(plan.buckets.size()),
      stages_(plan.buckets.size(), Stage::idle),
      started_(static_cast<std::uint64_t>(first) * plan.buckets.size()),
      updated_(started_) {
  for (const Bucket& bucket : plan_.buckets) {
    const OwnSlice own =
        collective_->add(parameters_.gradient_arena().subspan(bucket.begin, elements(bucket)),
                         parameters_.value_arena().subspan(bucket.begin, elements(bucket)));
    slices_.add({bucket.begin + own.begin, own.end - own.begin});
  }
  slices_.allocate();
}

void ShardedSynchronizer::values_needed(TensorId tensor) {
  await(plan_.bucket_of[tensor]);
  progress();  // The others wait for this rank's slices, whatever it needs itself.
}

void ShardedSynchronizer::gradient_ready(TensorId tensor) {
  const trace::Scope scope(session_.recorder, Phase::push);
  full_.ready(tensor, [this](std::size_t bucket) { start(bucket); });
  progress();
}

void ShardedSynchronizer::start(std::size_t bucket) {
  const std::size_t bytes =
      allreduce_bytes_sent(elements(plan_.buckets[bucket]) * bytes_per_element_, session_.workers.size());
  session_.recorder.count_sent(bytes, 2);
  session_.recorder.count_received(bytes, 0);
  started_ns_[bucket] = session_.recorder.now_ns();
  collective_->start_reduce_scatter(static_cast<int>(bucket));
  stages_[bucket] = Stage::summing;
  ++started_;
}

void ShardedSynchronizer::progress() {
  // Large transfers advance only inside MPI. The last bucket is the last to be complete.
  const auto is_under_way = [](Stage stage) { return stage != Stage::idle; };
  const auto last = std::find_if(stages_.rbegin(), stages_.rend(), is_under_way);
  if (last == stages_.rend()) return;
  const auto number = static_cast<int>(stages_.rend() - last) - 1;
  chance_.use([&] {
    update_what_may();
    return updated_ == started_ && collective_->test(number);
  });
}

void ShardedSynchronizer::update_what_may() {
  for (; updated_ < started_; ++updated_) {
    const std::size_t index = updated_ % plan_.buckets.size();
    if (!collective_->test(static_cast<int>(index))) return;
    update(index);
    collective_->start_allgather(static_cast<int>(index));
    stages_[index] = Stage::gathering;
  }
}

void ShardedSynchronizer::update(std::size_t index) {
  const trace::Scope scope(session_.recorder, Phase::update);
  const Slice slice = slices_[index];
  const auto values = parameters_.value_arena().subspan(slice.begin, slice.elements);
  optimizer_.apply({values, parameters_.gradient_arena().subspan(slice.begin, slice.elements), values,
                    slices_.state(index), static_cast<std::int64_t>(updated_ / plan_.buckets.size()) + 1});
}

void ShardedSynchronizer::finish_step(Step, bool last) {
  full_.next_step();
  for (std::size_t i = 0; last && i < plan_.buckets.size(); ++i) await(i);
}

void ShardedSynchronizer::await(std::size_t index) {
  if (stages_[index] == Stage::idle) return;
  {
    const trace::Scope scope(session_.recorder, Phase::wait);
    mpi::wait_until(session_.wait, [&] {
      update_what_may();
      return stages_[index] == Stage::gathering && collective_->test(static_cast<int>(index));
    });
  }
  stages_[index] = Stage::idle;
  const auto step = static_cast<Step>((updated_ - 1) / plan_.buckets.size());
  session_.recorder.event(Phase::allreduce, step, started_ns_[index], -1, -1,
                          elements(plan_.buckets[index]) * bytes_per_element_);
}

}  // namespace steelyard::allreduce
