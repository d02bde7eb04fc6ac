#include "modes/allreduce/rebuild.hpp"

#include <algorithm>
#include <utility>

namespace steelyard::allreduce {

RebuildingSynchronizer::RebuildingSynchronizer(Session& session, BucketPlan plan, Parameters& parameters,
                                               Replicas replicas, Make make)
    : session_(session),
      plan_(std::move(plan)),
      parameters_(parameters),
      replicas_(replicas),
      make_(std::move(make)),
      buckets_(make_(plan_, 0)) {
  order_.reserve(plan_.bucket_of.size());
}

void RebuildingSynchronizer::gradient_ready(TensorId tensor) {
  if (watching_) order_.push_back(tensor);
  buckets_->gradient_ready(tensor);
}

void RebuildingSynchronizer::finish_step(Step step, bool last) {
  const bool may_rebuild = std::exchange(watching_, false) && !last;
  if (!may_rebuild) return buckets_->finish_step(step, last);
  BucketPlan observed = observed_plan();
  const bool as_planned = observed.bucket_of == plan_.bucket_of;
  buckets_->finish_step(step, !as_planned);  // Before a change nothing may be under way.
  if (!as_planned) rebuild(std::move(observed), step + 1);
}

BucketPlan RebuildingSynchronizer::observed_plan() {
  mpi::broadcast(session_.workers, std::as_writable_bytes(std::span(order_)), 0, session_.wait);
  const TrialConfig& config = session_.config;
  return plan_buckets(parameters_.inventory(), order_, config.first_bucket_bytes, config.bucket_bytes);
}

void RebuildingSynchronizer::rebuild(BucketPlan plan, Step next) {
  // Others may still look whether all have updated their slices.
  mpi::barrier(session_.workers, session_.wait);
  Slices old = std::move(buckets_->slices());
  const Layout old_layout = plan_.layout;
  buckets_.reset();
  plan_ = std::move(plan);
  rearrange_values(plan_.layout);
  buckets_ = make_(plan_, next);
  move_state(session_.workers, parameters_.inventory(), replicas_ != Replicas::whole, {old, old_layout},
             {buckets_->slices(), plan_.layout});
  ++session_.bucket_rebuilds;
  mpi::barrier(session_.workers, session_.wait);  // Counters in shared memory begin anew.
}

void RebuildingSynchronizer::rearrange_values(const Layout& layout) {
  // Where values lie once, each rank moves some of the tensors.
  const bool shared = replicas_ == Replicas::in_place;
  const auto first = static_cast<TensorId>(shared ? session_.workers.rank() : 0);
  const auto stride = static_cast<TensorId>(shared ? session_.workers.size() : 1);
  const auto tensors = static_cast<TensorId>(parameters_.inventory().size());
  std::vector<std::vector<float>> kept;
  for (TensorId id = first; id < tensors; id += stride)
    kept.emplace_back(parameters_.values(id).begin(), parameters_.values(id).end());
  if (shared) mpi::barrier(session_.workers, session_.wait);
  parameters_.set_layout(layout);
  for (TensorId id = first; id < tensors; id += stride)
    std::ranges::copy(kept[(id - first) / stride], parameters_.values(id).begin());
  if (shared) mpi::barrier(session_.workers, session_.wait);
}

}  // namespace steelyard::allreduce
