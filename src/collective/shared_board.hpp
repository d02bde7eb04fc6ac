#pragma once

/// @file
/// Where the ranks of a node leave chunks of one buffer for each other, and how they say so.

#include <cstdint>
#include <span>

#include "src/base/aligned.hpp"
#include "src/mpi/shared_counters.hpp"
#include "src/mpi/shared_window.hpp"

namespace steelyard {

/// How a buffer goes over the board.
struct BoardShape {
  std::size_t chunk = 0;   ///< Elements of a chunk: whole cache lines.
  std::size_t places = 0;  ///< Chunks that a slot has room for; later ones take the same places again.
  bool results = false;    ///< Whether there is room for as many chunks of sums.
};

/// In a window of the node's: for each rank two counters and a slot, and once for all a counter and the
/// results.
class Board {
 public:
  /// Collective over `node`, which must outlive it.
  Board(const mpi::Communicator& node, const BoardShape& shape)
      : ranks_(static_cast<std::size_t>(node.size())),
        slot_(shape.chunk * shape.places),
        shape_(shape),
        window_(node, mpi::SharedCounters::bytes_for(counters()) +
                          (ranks_ + (shape.results ? 1 : 0)) * slot_ * sizeof(float)) {}

  /// Chunks that `rank` has left in its slot, and that it has summed.
  std::uint64_t arrived(Rank rank) const { return load(static_cast<std::size_t>(rank)); }
  std::uint64_t summed(Rank rank) const { return load(ranks_ + static_cast<std::size_t>(rank)); }
  /// Chunks whose results hold the sums over all nodes.
  std::uint64_t global() const { return load(2 * ranks_); }
  void set_arrived(Rank rank, std::uint64_t chunks) { store(static_cast<std::size_t>(rank), chunks); }
  void set_summed(Rank rank, std::uint64_t chunks) { store(ranks_ + static_cast<std::size_t>(rank), chunks); }
  void set_global(std::uint64_t chunks) { store(2 * ranks_, chunks); }

  /// The place of chunk number `index` in the slot of `rank`, and among the results.
  float* slot(Rank rank, std::uint64_t index) const {
    return floats() + static_cast<std::size_t>(rank) * slot_ + offset(index);
  }
  float* result(std::uint64_t index) const { return floats() + ranks_ * slot_ + offset(index); }

 private:
  std::size_t counters() const { return 2 * ranks_ + 1; }
  std::size_t offset(std::uint64_t index) const { return index % shape_.places * shape_.chunk; }
  float* floats() const {
    return reinterpret_cast<float*>(window_.bytes().data() + mpi::SharedCounters::bytes_for(counters()));
  }

  std::uint64_t load(std::size_t index) const { return mpi::SharedCounters(window_.bytes()).load(index); }
  void store(std::size_t index, std::uint64_t value) {
    mpi::SharedCounters(window_.bytes()).store(index, value);
  }

  std::size_t ranks_;
  std::size_t slot_;  ///< Elements of a slot.
  BoardShape shape_;
  mpi::SharedWindow window_;
};

}  // namespace steelyard
