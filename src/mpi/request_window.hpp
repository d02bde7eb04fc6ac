#pragma once

/// @file
/// Many persistent requests of which only a few are under way at a time: a test costs as much as the places
/// of the window, not as all the requests there are.

#include <mpi.h>

#include <span>
#include <vector>

#include "src/mpi/communicator.hpp"
#include "src/mpi/slow_links.hpp"

namespace steelyard::mpi {

class RequestWindow {
 public:
  /// @param places requests that may be under way at once.
  explicit RequestWindow(std::size_t places);
  RequestWindow(const RequestWindow&) = delete;
  RequestWindow& operator=(const RequestWindow&) = delete;
  /// All requests must be inactive.
  ~RequestWindow();

  /// Set-up. @param bytes stays in place for the lifetime of the window. @return the request's number.
  std::size_t add_send(const Communicator& ranks, std::span<const std::byte> bytes, Rank to, int tag);
  std::size_t add_receive(const Communicator& ranks, std::span<std::byte> bytes, Rank from, int tag);

  /// Starts `request` in `place`, which must be free: never used, or reported by test_some.
  /// What goes through a slow link starts in a later test_some.
  void start(std::size_t request, std::size_t place);
  /// Gives MPI a chance to move data. @return places whose request has completed, valid until the next call.
  std::span<const int> test_some();

 private:
  void start_now(std::size_t request, std::size_t place);

  std::vector<MPI_Request> requests_;
  std::vector<MPI_Request> under_way_;  ///< [places] copies of handles.
  std::vector<int> completed_;          ///< [places]
  HeldStarts held_;
};

}  // namespace steelyard::mpi
