#pragma once

#include <vector>

#include "modes/allreduce/buckets.hpp"
#include "modes/mode.hpp"
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
class ShardedSynchronizer final : public Synchronizer {
 public:
  ShardedSynchronizer(Session& session, const BucketPlan& plan, Parameters& parameters,
                      SplitCollective& collective, const Optimizer& optimizer);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void progress() override;
  void finish_step(Step step, bool last) override;

 private:
  enum class Stage : std::uint8_t { idle, summing, gathering };
  /// What this rank updates of a bucket.
  struct Slice {
    std::size_t begin = 0;  ///< In the arena.
    std::size_t elements = 0;
    std::size_t state = 0;  ///< Where its optimizer state begins, in elements of a state array.
  };

  void start_ready_buckets();
  /// Updates slices whose sums have come, and starts to gather their buckets.
  void update_what_may();
  void update(std::size_t bucket);
  /// Until the values of a bucket under way are those after the update.
  void await(std::size_t bucket);

  Session& session_;
  const BucketPlan& plan_;
  Parameters& parameters_;
  SplitCollective& collective_;
  const Optimizer& optimizer_;
  std::size_t bytes_per_element_;
  mpi::Chance chance_;
  std::vector<Slice> slices_;  ///< [buckets]
  AlignedArray<float> state_;
  std::vector<std::size_t> missing_;      ///< [buckets] tensors whose gradient is not ready.
  std::vector<std::int64_t> started_ns_;  ///< [buckets]
  std::vector<Stage> stages_;             ///< [buckets]
  std::uint64_t step_begin_ = 0;          ///< Buckets of all steps before this one.
  std::uint64_t started_ = 0;             ///< Buckets whose reduce-scatter has been started,
  std::uint64_t updated_ = 0;             ///< of which this rank has updated its slice.
};

}  // namespace steelyard::allreduce
