#pragma once

/// @file
/// What MPI is told to add, and how.

#include <mpi.h>

#include <algorithm>

#include "src/collective/wire.hpp"
#include "src/mpi/communicator.hpp"

namespace steelyard {

/// MPI_SUM of numbers of a narrow wire: each addition is made in single precision, and rounded.
template <Wire wire>
void add_narrow(void* from, void* to, int* count, MPI_Datatype*) {
  constexpr std::size_t kBlock = 512;
  float sums[kBlock];
  const std::span<const std::uint16_t> all_from(static_cast<const std::uint16_t*>(from),
                                                static_cast<std::size_t>(*count));
  const std::span<std::uint16_t> all_to(static_cast<std::uint16_t*>(to), all_from.size());
  for (std::size_t begin = 0; begin < all_from.size(); begin += kBlock) {
    const std::size_t size = std::min(kBlock, all_from.size() - begin);
    widen(wire, all_to.subspan(begin, size), std::span(sums).first(size));
    add_widened(wire, std::span(sums).first(size), all_from.subspan(begin, size));
    narrow(wire, std::span(sums).first(size), all_to.subspan(begin, size));
  }
}

class Addition {
 public:
  explicit Addition(Wire wire) : type_(wire == Wire::fp32 ? MPI_FLOAT : MPI_UINT16_T) {
    if (wire == Wire::fp16) mpi::check(MPI_Op_create(add_narrow<Wire::fp16>, 1, &made_));
    if (wire == Wire::bf16) mpi::check(MPI_Op_create(add_narrow<Wire::bf16>, 1, &made_));
  }
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;
  ~Addition() {
    if (made_ != MPI_OP_NULL) MPI_Op_free(&made_);
  }

  MPI_Datatype type() const { return type_; }
  MPI_Op operation() const { return made_ == MPI_OP_NULL ? MPI_SUM : made_; }

 private:
  MPI_Datatype type_;
  MPI_Op made_ = MPI_OP_NULL;
};

}  // namespace steelyard
