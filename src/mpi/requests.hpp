#pragma once

/// @file
/// Persistent point-to-point requests: addresses, peers and sizes are fixed once, then started every step.

#include <mpi.h>

#include <span>
#include <vector>

#include "src/mpi/communicator.hpp"
#include "src/mpi/slow_links.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard::mpi {

/// A numbered set of persistent requests that is tested as a whole. Nothing is allocated after set-up.
/// An inactive request is never reported.
class Requests {
 public:
  Requests() = default;
  Requests(Requests&& other) noexcept = default;
  Requests& operator=(Requests&&) = delete;
  /// All requests must be inactive.
  ~Requests();

  /// @param bytes stays in place for the lifetime of the set. @return the number of the new request.
  int add_send(const Communicator& ranks, std::span<const std::byte> bytes, Rank to, int tag);
  int add_receive(const Communicator& ranks, std::span<std::byte> bytes, Rank from, int tag);
  std::size_t size() const noexcept { return requests_.size(); }

  /// What goes through a slow link starts in a later test_some or wait_some.
  void start(int request) {
    const auto number = static_cast<std::size_t>(request);
    if (!held_.hold(number)) check(MPI_Start(&requests_[number]));
  }

  /// Gives MPI a chance to move data. @return the requests that have completed since they were started,
  /// valid until the next call.
  std::span<const int> test_some();
  /// As test_some, but waits until there is at least one. At least one request must be active.
  std::span<const int> wait_some(Wait wait);

 private:
  std::span<const int> completed(int count) const;

  std::vector<MPI_Request> requests_;
  std::vector<int> completed_;
  HeldStarts held_;
};

}  // namespace steelyard::mpi
