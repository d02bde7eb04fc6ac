#pragma once

/// @file
/// What the workers of one node share in an allreduce in place: a gradient arena each, the values once, and
/// counters that say how far each has come.

#include <span>

#include "src/base/aligned.hpp"
#include "src/model/parameters.hpp"
#include "src/mpi/shared_counters.hpp"
#include "src/mpi/shared_window.hpp"

namespace steelyard::allreduce {

class NodeArenas {
 public:
  static std::size_t bytes_for(std::size_t elements, int ranks) {
    const auto count = static_cast<std::size_t>(ranks);
    return mpi::SharedCounters::bytes_for(2 * count) +
           (count + 1) * whole_lines<float>(elements) * sizeof(float);
  }

  /// Collective over `node`. @param elements of an arena.
  NodeArenas(const mpi::Communicator& node, std::size_t elements)
      : ranks_(static_cast<std::size_t>(node.size())),
        elements_(elements),
        window_(node, bytes_for(elements, node.size())) {}

  std::span<float> values() const { return arena(ranks_); }
  std::span<float> gradients(Rank rank) const { return arena(static_cast<std::size_t>(rank)); }

  /// Buckets whose gradients `rank` has left in its arena, and of which it has updated its slice, since the
  /// beginning. Who sees a counter raised sees what its rank wrote before.
  std::uint64_t arrived(Rank rank) const { return load(2 * static_cast<std::size_t>(rank)); }
  std::uint64_t updated(Rank rank) const { return load(2 * static_cast<std::size_t>(rank) + 1); }
  void set_arrived(Rank rank, std::uint64_t buckets) const {
    store(2 * static_cast<std::size_t>(rank), buckets);
  }
  void set_updated(Rank rank, std::uint64_t buckets) const {
    store(2 * static_cast<std::size_t>(rank) + 1, buckets);
  }

 private:
  std::span<float> arena(std::size_t index) const {
    auto* const floats =
        reinterpret_cast<float*>(window_.bytes().data() + mpi::SharedCounters::bytes_for(2 * ranks_));
    return {floats + index * whole_lines<float>(elements_), elements_};
  }
  std::uint64_t load(std::size_t index) const { return mpi::SharedCounters(window_.bytes()).load(index); }
  void store(std::size_t index, std::uint64_t value) const {
    mpi::SharedCounters(window_.bytes()).store(index, value);
  }

  std::size_t ranks_;
  std::size_t elements_;
  mpi::SharedWindow window_;
};

}  // namespace steelyard::allreduce
