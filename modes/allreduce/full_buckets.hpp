#pragma once

/// @file
/// Which buckets have all their gradients.

#include <vector>

#include "modes/allreduce/buckets.hpp"

namespace steelyard::allreduce {

/// Says of every bucket once in a step that it is full: in index order on every rank, never in the order in
/// which buckets happen to fill.
class FullBuckets {
 public:
  /// @param plan must outlive it.
  explicit FullBuckets(const BucketPlan& plan) : plan_(plan), missing_(plan.buckets.size()) { next_step(); }

  /// The gradient of `tensor` is ready. Calls `start` with each bucket that is full now, and before which all
  /// are.
  template <typename Start>
  void ready(TensorId tensor, Start&& start) {
    --missing_[plan_.bucket_of[tensor]];
    for (; next_ < missing_.size() && missing_[next_] == 0; ++next_) start(next_);
  }

  void next_step() {
    next_ = 0;
    for (std::size_t i = 0; i < missing_.size(); ++i) missing_[i] = plan_.buckets[i].tensors.size();
  }

 private:
  const BucketPlan& plan_;
  std::vector<std::size_t> missing_;  ///< [buckets] tensors whose gradient is not ready.
  std::size_t next_ = 0;
};

}  // namespace steelyard::allreduce
