#pragma once

/// @file
/// What one rank updates of each bucket, and the optimizer state of that.

#include <span>
#include <utility>
#include <vector>

#include "modes/allreduce/buckets.hpp"
#include "src/base/aligned.hpp"
#include "src/mpi/communicator.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard::allreduce {

/// A run of the arena.
struct Slice {
  std::size_t begin = 0;
  std::size_t elements = 0;
};

/// Slices and their state. An update of n elements has its state as arrays of n, one behind the other.
class Slices {
 public:
  /// @param per_element floats of state.
  /// @param block elements that one call of the optimizer updates at most.
  Slices(std::size_t per_element, std::size_t block) : per_element_(per_element), block_(block) {}

  /// Set-up: the slice of the next bucket.
  void add(Slice slice);
  /// Set-up, after the last slice: state of zeros.
  void allocate();

  Slice operator[](std::size_t bucket) const { return slices_[bucket]; }
  /// [slice's elements x per_element]
  std::span<float> state(std::size_t bucket) {
    return state_.span().subspan(begins_[bucket] * per_element_, slices_[bucket].elements * per_element_);
  }

  /// The state of run [begin, begin + out.size() / per_element) of the arena, element by element, as far as
  /// this rank has it; the rest of `out` stays.
  void read(std::size_t begin, std::span<float> out);
  /// The other way round.
  void write(std::size_t begin, std::span<const float> in);

  std::size_t per_element() const { return per_element_; }

 private:
  /// Calls `visit` with each float of state that is here, and its place in the run.
  template <typename Visit>
  void visit(std::size_t begin, std::size_t elements, Visit&& visit);

  std::size_t per_element_;
  std::size_t block_;
  std::vector<Slice> slices_;        ///< [buckets]
  std::vector<std::size_t> begins_;  ///< [buckets] elements of the slices before.
  AlignedArray<float> state_;
};

/// Collective over `workers` if `divided`: gives `to`, which has other slices of another layout, the state
/// that `from` has. Bits are kept. @param divided each rank has the state of its own elements alone.
void move_state(const mpi::Communicator& workers, const Inventory& inventory, bool divided,
                std::pair<Slices&, const Layout&> from, std::pair<Slices&, const Layout&> to);

}  // namespace steelyard::allreduce
