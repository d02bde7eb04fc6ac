#pragma once

#include <vector>

#include "modes/allreduce/full_buckets.hpp"
#include "modes/allreduce/rebuild.hpp"
#include "src/collective/split.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::allreduce {

/// An allreduce whose optimizer runs between its two halves: a bucket's gradients are reduce-scattered while
/// backward goes on; each rank updates the slice of the values whose sum it holds, so it has optimizer state
/// for that alone (Rajbhandari et al. 2020, stage 1); and the values are gathered. The next forward waits
/// layer by layer.
///
/// Both halves start in index order on every rank. A rank starts a gather when the sum has come, and so at
/// whatever point of its work it notices; the order of the gathers does not depend on that.
/// Values of a bucket change only after its gradients are ready, when backward reads them no more.
class ShardedSynchronizer final : public BucketSynchronizer {
 public:
  /// Collective. @param first the step that comes next.
  ShardedSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                      std::unique_ptr<SplitCollective> collective, const Optimizer& optimizer, Step first);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void progress() override;
  void finish_step(Step step, bool last) override;
  Slices& slices() override { return slices_; }

 private:
  enum class Stage : std::uint8_t { idle, summing, gathering };

  void start(std::size_t bucket);
  /// Updates slices whose sums have come, and starts to gather their buckets.
  void update_what_may();
  void update(std::size_t bucket);
  /// Until the values of a bucket under way are those after the update.
  void await(std::size_t bucket);

  Session& session_;
  const BucketPlan& plan_;
  Parameters& parameters_;
  std::unique_ptr<SplitCollective> collective_;
  const Optimizer& optimizer_;
  std::size_t bytes_per_element_;
  mpi::Chance chance_;
  FullBuckets full_;
  Slices slices_;
  std::vector<std::int64_t> started_ns_;  ///< [buckets]
  std::vector<Stage> stages_;             ///< [buckets]
  std::uint64_t started_;                 ///< Buckets whose reduce-scatter has been started,
  std::uint64_t updated_;                 ///< of which this rank has updated its slice.
};

}  // namespace steelyard::allreduce
