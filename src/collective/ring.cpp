/// @file
/// Bandwidth-optimal ring allreduce (Patarasuk and Yuan 2009): the buffer in P parts, 2 (P - 1) hops. Hop i
/// of rank j in the reduce-scatter sends part j - i and receives j - i - 1; in the allgather it sends part j
/// + 1 - i and receives j - i. A fixed order of ranks makes the sums the same in every run.

#include "src/collective/pipelined.hpp"

namespace steelyard {

void plan_ring(Schedule& schedule, std::span<float> data, Rank rank, int ranks) {
  const Rank right = (rank + 1) % ranks;
  const Rank left = (rank + ranks - 1) % ranks;
  const auto part = [&](int index) { return nth_part(data, index, ranks); };
  for (int hop = 0; hop < ranks - 1; ++hop) {
    schedule.send(right, part(rank - hop));
    schedule.receive(left, part(rank - hop - 1), true);
  }
  for (int hop = 0; hop < ranks - 1; ++hop) {
    schedule.send(right, part(rank + 1 - hop), hop == 0);
    schedule.receive(left, part(rank - hop), false);
  }
}

std::unique_ptr<Collective> make_ring_collective(const mpi::Communicator& workers,
                                                 const CollectiveOptions& options) {
  return std::make_unique<PipelinedCollective>(workers, plan_ring, options.wire);
}

}  // namespace steelyard
