#pragma once

/// @file
/// The greatest of a few numbers over ranks that go on with their work meanwhile.

#include <mpi.h>

#include <array>
#include <cstdint>

#include "src/mpi/communicator.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard::mpi {

class PendingGreatest {
 public:
  using Numbers = std::array<std::int64_t, 2>;

  PendingGreatest() = default;
  PendingGreatest(const PendingGreatest&) = delete;
  PendingGreatest& operator=(const PendingGreatest&) = delete;

  /// Collective over `ranks`, which do nothing else together until all have waited. None may be under way.
  void start(const Communicator& ranks, const Numbers& mine);
  bool under_way() const { return request_ != MPI_REQUEST_NULL || complete_; }
  /// Gives MPI a chance to move it. @return whether wait() would return at once.
  bool test();
  /// Of each number the greatest of all ranks'; one must be under way.
  Numbers wait(Wait wait);

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool complete_ = false;
  Numbers numbers_{};
};

}  // namespace steelyard::mpi
