#include "modes/allreduce/in_place.hpp"

#include <algorithm>

#include "src/collective/collective.hpp"
#include "src/optim/fused.hpp"

namespace steelyard::allreduce {

using trace::Phase;

InPlaceSynchronizer::InPlaceSynchronizer(Session& session, const BucketPlan& plan, const NodeArenas& arenas,
                                         const Optimizer& optimizer, Step first)
    : session_(session),
      plan_(plan),
      arenas_(arenas),
      optimizer_(optimizer),
      rank_(session.workers.rank()),
      ranks_(session.workers.size()),
      full_(plan),
      slices_(optimizer.state_per_element(), kUpdateBlock),
      started_ns_(plan.buckets.size()),
      summands_(static_cast<std::size_t>(ranks_)),
      step_begin_(static_cast<std::uint64_t>(first) * plan.buckets.size()),
      arrived_(step_begin_),
      updated_(step_begin_),
      completed_(step_begin_) {
  for (const Bucket& bucket : plan_.buckets) slices_.add(slice_of(bucket));
  slices_.allocate();
  arenas_.set_arrived(rank_, arrived_);
  arenas_.set_updated(rank_, updated_);
}

Slice InPlaceSynchronizer::slice_of(const Bucket& bucket) const {
  constexpr std::size_t kLine = kPerLine<float>;
  const std::size_t first = bucket.begin / kLine;
  const std::size_t lines = whole_lines<float>(bucket.end) / kLine - first;
  const auto cut = [&](int part) {
    const std::size_t line =
        first + lines * static_cast<std::size_t>(part) / static_cast<std::size_t>(ranks_);
    return std::clamp(line * kLine, bucket.begin, bucket.end);
  };
  return {cut(rank_), cut(rank_ + 1) - cut(rank_)};
}

template <typename News>
bool InPlaceSynchronizer::everywhere(std::uint64_t& known, std::uint64_t wanted, News&& news) const {
  if (known < wanted) {
    known = news(0);
    for (Rank rank = 1; rank < ranks_; ++rank) known = std::min(known, news(rank));
  }
  return known >= wanted;
}

void InPlaceSynchronizer::gradient_ready(TensorId tensor) {
  {
    const trace::Scope scope(session_.recorder, Phase::push);
    full_.ready(tensor, [this](std::size_t bucket) { leave(bucket); });
  }
  progress();
}

void InPlaceSynchronizer::leave(std::size_t index) {
  const std::size_t moved = allreduce_bytes_sent(elements(plan_.buckets[index]) * sizeof(float), ranks_);
  session_.recorder.count_sent(moved, 1);
  session_.recorder.count_received(moved, 0);
  started_ns_[index] = session_.recorder.now_ns();
  arenas_.set_arrived(rank_, ++arrived_);
}

void InPlaceSynchronizer::progress() {
  while (updated_ < arrived_ &&
         everywhere(known_arrived_, updated_ + 1, [this](Rank rank) { return arenas_.arrived(rank); }))
    update(updated_ % plan_.buckets.size());
}

void InPlaceSynchronizer::update(std::size_t index) {
  const trace::Scope scope(session_.recorder, Phase::update);
  const Slice slice = slices_[index];
  if (slice.elements > 0) {
    for (Rank rank = 0; rank < ranks_; ++rank)
      summands_[static_cast<std::size_t>(rank)] = arenas_.gradients(rank).data() + slice.begin;
    const auto values = arenas_.values().subspan(slice.begin, slice.elements);
    const auto count = static_cast<std::int64_t>(updated_ / plan_.buckets.size()) + 1;
    apply_sum(optimizer_, summands_, {values, {}, values, slices_.state(index), count});
  }
  arenas_.set_updated(rank_, ++updated_);
}

void InPlaceSynchronizer::values_needed(TensorId tensor) {
  progress();  // The others wait for this rank's slices, whatever it needs itself.
  if (arrived_ > 0) await(plan_.bucket_of[tensor]);
}

void InPlaceSynchronizer::await(std::size_t index) {
  const std::uint64_t wanted = step_begin_ - plan_.buckets.size() + index + 1;
  if (completed_ >= wanted) return;
  const auto done = [&] {
    return everywhere(known_updated_, wanted, [this](Rank rank) { return arenas_.updated(rank); });
  };
  if (!done()) {
    const trace::Scope scope(session_.recorder, Phase::wait);
    mpi::wait_until(mpi::polling(session_.wait), [&] {
      progress();
      return done();
    });
  }
  for (; completed_ < wanted; ++completed_) {
    const std::size_t place = completed_ % plan_.buckets.size();
    const std::size_t bytes = elements(plan_.buckets[place]) * sizeof(float);
    session_.recorder.event(Phase::allreduce, static_cast<Step>(completed_ / plan_.buckets.size()),
                            started_ns_[place], -1, -1, bytes);
  }
}

void InPlaceSynchronizer::finish_step(Step, bool last) {
  full_.next_step();
  step_begin_ += plan_.buckets.size();
  progress();
  if (last) await(plan_.buckets.size() - 1);
}

}  // namespace steelyard::allreduce
