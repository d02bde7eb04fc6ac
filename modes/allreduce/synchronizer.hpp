#pragma once

#include <vector>

#include "modes/allreduce/full_buckets.hpp"
#include "modes/allreduce/rebuild.hpp"
#include "src/collective/collective.hpp"

namespace steelyard::allreduce {

/// Bytes that an element is counted with. What shared memory does within a node is counted as fp32. With a
/// sharded optimizer, the mean of the two halves: gradients in the wire's type, values in fp32.
inline std::size_t wire_bytes(const TrialConfig& config) {
  if (config.collective == "shared") return sizeof(float);
  const std::size_t bytes = steelyard::wire_bytes(find_wire(config.wire).value());
  return config.sharded_optimizer ? (bytes + sizeof(float)) / 2 : bytes;
}

/// Sums gradients bucket by bucket while backward and the next forward go on; the forward waits layer by
/// layer, and every replica takes the same optimizer step on a bucket before it reads the values.
/// Buckets start in index order on every rank, never in the order in which they happen to be ready.
class AllreduceSynchronizer final : public BucketSynchronizer {
 public:
  AllreduceSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                        std::unique_ptr<Collective> collective, const Optimizer& optimizer);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void finish_step(Step step, bool last) override;
  void progress() override;
  Slices& slices() override { return slices_; }

 private:
  void start(std::size_t bucket);
  /// Waits for the sum of a bucket under way and applies the optimizer to it.
  void complete(std::size_t bucket);

  Session& session_;
  const BucketPlan& plan_;
  Parameters& parameters_;
  std::unique_ptr<Collective> collective_;
  const Optimizer& optimizer_;
  std::size_t wire_bytes_;
  FullBuckets full_;
  Slices slices_;                         ///< Whole buckets.
  std::vector<std::int64_t> started_ns_;  ///< [buckets]
  std::vector<bool> under_way_;           ///< [buckets] started and not yet applied.
  mpi::Chance chance_;
  Step step_ = 0;  ///< Of the buckets under way.
};

}  // namespace steelyard::allreduce
