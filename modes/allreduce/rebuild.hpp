#pragma once

/// @file
/// Buckets rebuilt once, in the order in which backward makes gradients ready.

#include <functional>
#include <memory>

#include "modes/allreduce/slices.hpp"
#include "modes/mode.hpp"

namespace steelyard::allreduce {

/// One of the ways to go through the buckets of a plan.
class BucketSynchronizer : public Synchronizer {
 public:
  virtual Slices& slices() = 0;
};

/// Where the workers' values and optimizer states are.
enum class Replicas : std::uint8_t {
  whole,     ///< Every worker has all values and states,
  sharded,   ///< all values and a part of the states,
  in_place,  ///< or all share one copy of the values, and each has a part of the states.
};

/// Watches the first step. If worker 0 saw gradients become ready in an order of which other buckets would
/// have come, all make these buckets at the step's end, and values and optimizer state move to their places.
/// Otherwise it costs one broadcast.
class RebuildingSynchronizer final : public Synchronizer {
 public:
  /// Collective over session.workers. @param first the step that comes next.
  using Make = std::function<std::unique_ptr<BucketSynchronizer>(const BucketPlan& plan, Step first)>;

  /// Collective over session.workers. Everything borrowed must outlive it.
  /// @param parameters with the layout of `plan`.
  RebuildingSynchronizer(Session& session, BucketPlan plan, Parameters& parameters, Replicas replicas,
                         Make make);

  void values_needed(TensorId tensor) override { buckets_->values_needed(tensor); }
  void gradient_ready(TensorId tensor) override;
  void progress() override { buckets_->progress(); }
  void finish_step(Step step, bool last) override;

 private:
  /// Collective. The buckets that worker 0 would have liked.
  BucketPlan observed_plan();
  void rebuild(BucketPlan plan, Step next);
  void rearrange_values(const Layout& layout);

  Session& session_;
  BucketPlan plan_;
  Parameters& parameters_;
  Replicas replicas_;
  Make make_;
  std::unique_ptr<BucketSynchronizer> buckets_;
  bool watching_ = true;
  std::vector<TensorId> order_;  ///< In which this worker's gradients became ready in the first step.
};

}  // namespace steelyard::allreduce
