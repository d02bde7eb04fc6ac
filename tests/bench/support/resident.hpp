#pragma once

/// @file
/// The sum of an allreduce in place, without an optimizer behind it.

#include <span>

#include "modes/allreduce/node_arenas.hpp"

namespace steelyard::bench {

/// As modes/allreduce/in_place.hpp has it: every rank's summands lie in its arena of the node's window, and
/// the sums once, where all read them; nothing is copied in or out. When all have arrived, each rank sums its
/// slice in rank order. The summands may be written again when the sums are complete; the sums are
/// overwritten only when all have started again.
class ResidentSum {
 public:
  /// Collective over `node`, all of whose ranks share memory. @param elements of a rank's summands.
  ResidentSum(const mpi::Communicator& node, std::size_t elements);

  std::span<float> summands() const { return arenas_.gradients(rank_); }
  std::span<const float> sums() const { return arenas_.values(); }

  void start() { arenas_.set_arrived(rank_, ++started_); }
  /// Advances; never blocks. @return whether the sums are complete.
  bool test();

 private:
  void sum_slice() const;

  Rank rank_;
  int ranks_;
  allreduce::NodeArenas arenas_;
  std::uint64_t started_ = 0;
  std::uint64_t summed_ = 0;
};

}  // namespace steelyard::bench
