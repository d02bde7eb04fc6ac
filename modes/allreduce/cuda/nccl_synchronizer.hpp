#pragma once

#include <array>
#include <vector>

#include "modes/allreduce/full_buckets.hpp"
#include "modes/cuda/device_clock.hpp"
#include "modes/mode.hpp"
#include "src/collective/nccl.hpp"
#include "src/cuda/buffer.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::allreduce {

/// Allreduce among GPUs: buckets are summed in a stream of their own while backward goes on in another, and
/// the two are joined by events. A bucket is updated in the compute stream when its sum is there, before the
/// layer of the next forward that reads it. The host queues and never waits for the device within a step; it
/// is at most a step ahead. Buckets start in index order on every rank; a model makes gradients ready in the
/// reverse order of creation, which the buckets have already, so they are not made anew.
class NcclSynchronizer final : public Synchronizer {
 public:
  /// Collective. Everything borrowed must outlive it. @param device whose arenas are of the device, with the
  /// layout of `plan` and values set.
  NcclSynchronizer(Session& session, const BucketPlan& plan, Parameters& device, NcclGroup& group,
                   const cuda::Stream& compute, const Optimizer& optimizer);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void progress() override { group_.look(); }
  void finish_step(Step step, bool last) override;

 private:
  /// One bucket of one step.
  struct Sum {
    cuda::Event begin{cuda::Event::Timed::yes};
    cuda::Event end{cuda::Event::Timed::yes};
    std::shared_ptr<const cuda::Anchor> anchor{};  ///< Until it is in the trace.
    Step step = 0;
  };
  static constexpr std::size_t kSteps = 2;  ///< That the device may have queued.

  std::span<float> part(std::span<float> arena, std::size_t bucket) const {
    return arena.subspan(plan_.buckets[bucket].begin, elements(plan_.buckets[bucket]));
  }
  void start(std::size_t bucket);
  /// Queues the update of a bucket whose sum is queued.
  void update(std::size_t bucket);
  /// Into the trace; waits for its end.
  void note(Sum& sum, std::size_t bucket);

  Session& session_;
  const BucketPlan& plan_;
  Parameters& device_;
  NcclGroup& group_;
  const cuda::Stream& compute_;
  const Optimizer& optimizer_;
  cuda::Stream communication_;
  cuda::DeviceClock clock_;
  cuda::DeviceBuffer<float> state_;  ///< [elements x state_per_element], bucket by bucket.
  FullBuckets full_;
  cuda::Event made_;                           ///< The gradients of the latest bucket.
  std::array<std::vector<Sum>, kSteps> sums_;  ///< [steps][buckets]
  std::array<cuda::Event, kSteps> queued_;     ///< All of a step in the compute stream.
  std::vector<const Sum*> under_way_;          ///< [buckets] not yet updated; or null.
};

}  // namespace steelyard::allreduce
