#pragma once

/// @file
/// Links to other ranks that are slower than they are: messages are held back before they start.

#include <mpi.h>

#include <vector>

#include "src/mpi/communicator.hpp"

namespace steelyard::mpi {

/// The slow links of one rank, outwards. A link is a queue: messages occupy it one after the other, each for
/// its bytes over the slower bandwidth, and what a message needs anyway is the last part of that time.
class SlowLinks {
 public:
  /// One of them.
  struct Link {
    Rank to = 0;
    double ns_per_byte = 0.0;  ///< That a message needs anyway.
    double share = 1.0;        ///< Of that bandwidth, above 0 and below 1.
    std::int64_t busy_until_ns = 0;
  };

  /// @param links ranks as in the communicators that they are attached to.
  explicit SlowLinks(std::vector<Link> links) : links_(std::move(links)) {}
  SlowLinks(const SlowLinks&) = delete;
  SlowLinks& operator=(const SlowLinks&) = delete;
  /// Detaches.
  ~SlowLinks();

  /// From now on what is sent by Requests and RequestWindows that are made on `ranks`, or on duplicates made
  /// from now on, goes through these links. @param ranks outlives this.
  void attach(const Communicator& ranks);
  /// Those attached to `ranks`, or null.
  static SlowLinks* of(const Communicator& ranks);

  /// The link to `to`, or null.
  Link* link(Rank to);
  /// Occupies `link` with a message. @return when it may start, by CLOCK_MONOTONIC.
  static std::int64_t occupy(Link& link, std::size_t bytes, std::int64_t now_ns);

 private:
  std::vector<Link> links_;
  std::vector<MPI_Comm> attached_;
};

/// The starts of a set of requests that are held back. Without slow links it holds nothing and costs a look
/// at an empty list.
class HeldStarts {
 public:
  /// Set-up: request number `request` sends `bytes` to rank `to` of `ranks`.
  void add_send(std::size_t request, const Communicator& ranks, Rank to, std::size_t bytes);
  /// Whether some request may ever be held.
  bool possible() const { return !messages_.empty(); }

  /// Holds `request` back if its link is slow. @param place given back when it is due.
  /// @return whether it is held.
  bool hold(std::size_t request, std::size_t place = 0) {
    return !messages_.empty() && hold_slow(request, place);
  }
  /// Calls `start(request, place)` for those that are due, in the order in which they were held.
  template <typename Start>
  void start_due(Start&& start) {
    if (held_.empty()) return;
    const std::int64_t now = now_ns();
    std::erase_if(held_, [&](const Held& one) {
      if (one.due_ns > now) return false;
      start(one.request, one.place);
      return true;
    });
  }

 private:
  struct Message {
    SlowLinks::Link* link = nullptr;
    std::size_t bytes = 0;
  };
  struct Held {
    std::int64_t due_ns;
    std::size_t request;
    std::size_t place;
  };

  static std::int64_t now_ns();
  bool hold_slow(std::size_t request, std::size_t place);

  std::vector<Message> messages_;  ///< [requests], up to the last one through a slow link.
  std::vector<Held> held_;
};

}  // namespace steelyard::mpi
