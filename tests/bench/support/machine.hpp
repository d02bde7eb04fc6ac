#pragma once

/// @file
/// What the machine can do at best: copy memory, and multiply and add.

#include <cstddef>
#include <functional>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/mpi/communicator.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard::bench {

/// Copies `bytes` from one array into another, as the copy of STREAM (McCalpin 1995).
class Copy {
 public:
  explicit Copy(std::size_t bytes) : from_(bytes / sizeof(float)), to_(from_.size()) {}

  /// Bytes are read and as many written.
  void once();
  /// By all ranks at once. Collective. @return seconds of each timed copy, the greatest over the ranks.
  std::vector<double> run_together(const mpi::Communicator& ranks, mpi::Wait wait, int timed);

 private:
  AlignedArray<float> from_;
  AlignedArray<float> to_;
};

/// Times `work` on rank 0 alone, while the others wait. Collective.
/// @return seconds of each timed call on rank 0, empty elsewhere.
std::vector<double> run_alone(const mpi::Communicator& ranks, int timed, const std::function<void()>& work);

/// Multiplies and adds in registers, by the widest vectors that this processor has.
/// @return floating-point operations done, a multiply-add being two.
double multiply_and_add(std::size_t repeats);

}  // namespace steelyard::bench
