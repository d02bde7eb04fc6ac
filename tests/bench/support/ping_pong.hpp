#pragma once

/// @file
/// What both benchmarks measure themselves against: one message there and one back by plain MPI.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/mpi/communicator.hpp"

namespace steelyard::bench {

/// MPI_Send and MPI_Recv of the same size each way between ranks 0 and 1. Sent from one buffer and received
/// in another, as gradients and values are; and, as they are too, written by the sender just before. (Without
/// that the receiver finds an old message in its own cache, and the figure is one that no changing data can
/// reach.)
class PingPong {
 public:
  /// What rank 1 does with what it has received, to what it sends back, within the timed round trip:
  /// it, and not this class, writes what rank 1 sends.
  using Work = std::function<void(std::span<const float> in, std::span<float> out)>;

  /// @param bytes a multiple of sizeof(float). @param work none for a plain ping-pong.
  PingPong(const mpi::Communicator& ranks, std::size_t bytes, Work work = {});

  /// Collective; ranks above 1 only wait. @return seconds of each timed round trip on rank 0, empty
  /// elsewhere.
  std::vector<double> run(int timed);

 private:
  /// New content for what this rank sends.
  void write(int iteration);
  void send(Rank to);
  void receive(Rank from);
  double round_trip();
  void answer();

  const mpi::Communicator& ranks_;
  AlignedArray<float> out_;
  AlignedArray<float> in_;
  Work work_;
};

}  // namespace steelyard::bench
