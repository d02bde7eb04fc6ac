#pragma once

/// @file
/// An allreduce in its two halves, so that the one rank that holds a sum can make something of it in between.

#include "src/collective/collective.hpp"

namespace steelyard {

/// Elements [begin, end) of a buffer.
struct OwnSlice {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Buffers are registered once, in pairs of equal length; then each pair may go through its two halves any
/// number of times. Every call is collective. Reduce-scatters begin in one order on every rank, and so do
/// allgathers, but how the two interleave may differ from rank to rank.
class SplitCollective {
 public:
  virtual ~SplitCollective() = default;

  /// Set-up: registers `summands` [count] and `values` [count], which stay in place, as pair 0, 1, ...
  /// @return what this rank holds. The slices of all ranks are a partition of [0, count); some may be empty.
  virtual OwnSlice add(std::span<float> summands, std::span<float> values) = 0;
  /// Begins to replace this rank's slice of the summands by their sum over all ranks; what becomes of the
  /// rest is not said.
  virtual void start_reduce_scatter(int number) = 0;
  /// Begins to replace the values outside of this rank's slice by those of the ranks whose slices they are
  /// in.
  virtual void start_allgather(int number) = 0;
  /// Advances what is under way; never blocks. @return whether the half of `number` started last is complete.
  virtual bool test(int number) = 0;
};

/// Collective. @param name ring, recursive, or mpi. @param workers must outlive the result.
/// Summands travel in options.wire, values in fp32.
Expected<std::unique_ptr<SplitCollective>> make_split_collective(std::string_view name,
                                                                 const mpi::Communicator& workers,
                                                                 const CollectiveOptions& options = {});
/// Whether there is a backend of that name that can; else the error that lists those.
Status check_split_collective(std::string_view name);

}  // namespace steelyard
