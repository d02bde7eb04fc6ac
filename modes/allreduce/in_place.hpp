#pragma once

#include <vector>

#include "modes/allreduce/full_buckets.hpp"
#include "modes/allreduce/node_arenas.hpp"
#include "modes/allreduce/rebuild.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::allreduce {

/// Allreduce and sharded optimizer in one, for workers that share a node's memory. When every rank has left
/// the gradients of a bucket in its arena, each updates its slice of the values: it sums the slice in rank
/// order straight out of the others' arenas and applies the optimizer, in one pass. The values lie once, and
/// all read them there, so nothing is copied; the next forward waits layer by layer.
///
/// Values are overwritten only when all have arrived, and who has arrived reads them no more in this step.
/// Gradients are overwritten only in the next backward, behind a forward that waited for every slice.
class InPlaceSynchronizer final : public BucketSynchronizer {
 public:
  /// Before the first gradient is ready on any rank, all must have been constructed.
  /// @param arenas of session.workers, in its rank order. Buckets as `plan` has them, on every rank.
  /// @param first the step that comes next.
  InPlaceSynchronizer(Session& session, const BucketPlan& plan, const NodeArenas& arenas,
                      const Optimizer& optimizer, Step first);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void finish_step(Step step, bool last) override;
  /// Updates this rank's slices of buckets that have arrived everywhere.
  void progress() override;
  Slices& slices() override { return slices_; }

 private:
  /// This rank's part of a bucket, in whole cache lines of the arena.
  Slice slice_of(const Bucket& bucket) const;
  void leave(std::size_t index);
  void update(std::size_t index);
  /// Between a step and the next forward: until all have updated this bucket, and those before it.
  void await(std::size_t index);
  template <typename News>
  bool everywhere(std::uint64_t& known, std::uint64_t wanted, News&& news) const;

  Session& session_;
  const BucketPlan& plan_;
  const NodeArenas& arenas_;
  const Optimizer& optimizer_;
  Rank rank_;
  int ranks_;
  FullBuckets full_;
  Slices slices_;
  std::vector<std::int64_t> started_ns_;  ///< [buckets]
  std::vector<const float*> summands_;    ///< [ranks]
  std::uint64_t step_begin_;              ///< Buckets of all steps before this one.
  std::uint64_t arrived_;                 ///< Buckets that this rank has left for the others,
  std::uint64_t updated_;                 ///< of which it has updated its slice,
  std::uint64_t completed_;               ///< and that it knows to be updated by all.
  std::uint64_t known_arrived_ = 0;
  std::uint64_t known_updated_ = 0;
};

}  // namespace steelyard::allreduce
