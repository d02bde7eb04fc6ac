/// @file
/// Bandwidth-optimal ring allreduce (Patarasuk and Yuan 2009): the buffer in P parts, 2 (P - 1) hops. Hop i
/// of rank j in the reduce-scatter sends part j - i and receives j - i - 1; in the allgather it sends part j
/// + 1 - i and receives j - i. A fixed order of ranks makes the sums the same in every run.

#include "src/collective/pipelined_split.hpp"

namespace steelyard {
namespace {

void scatter_sums(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  for (int hop = 0; hop < ranks - 1; ++hop) {
    schedule.send((rank + 1) % ranks, nth_part(data, rank - hop, ranks));
    schedule.receive((rank + ranks - 1) % ranks, nth_part(data, rank - hop - 1, ranks), true);
  }
}

void gather(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  for (int hop = 0; hop < ranks - 1; ++hop) {
    schedule.send((rank + 1) % ranks, nth_part(data, rank + 1 - hop, ranks), hop == 0);
    schedule.receive((rank + ranks - 1) % ranks, nth_part(data, rank - hop, ranks), false);
  }
}

std::span<float> own_part(std::span<float> data, Rank rank, int ranks) {
  return nth_part(data, rank + 1, ranks);
}

}  // namespace

const SplitPlan kRingSplit{scatter_sums, gather, own_part};

void plan_ring(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  scatter_sums(schedule, data, rank, ranks);
  gather(schedule, data, rank, ranks);
}

std::unique_ptr<Collective> make_ring_collective(const mpi::Communicator& workers,
                                                 const CollectiveOptions& options) {
  return std::make_unique<PipelinedCollective>(workers, plan_ring, options.wire);
}

std::unique_ptr<SplitCollective> make_ring_split(const mpi::Communicator& workers,
                                                 const CollectiveOptions& options) {
  return std::make_unique<PipelinedSplit>(workers, kRingSplit, options.wire);
}

}  // namespace steelyard
