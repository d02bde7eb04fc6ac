#pragma once

#include "modes/allreduce/buckets.hpp"
#include "modes/mode.hpp"

namespace steelyard::allreduce {

/// Trains on the GPU that this process has taken: values, gradients and optimizer state of all buckets are
/// slabs in its memory. With one worker a bucket is updated by one kernel as soon as backward has queued its
/// gradients; with several NCCL sums it first.
void run_on_device(Session& session, BucketPlan plan, const Optimizer& optimizer, Share share);

}  // namespace steelyard::allreduce
