#pragma once

/// @file
/// Headers from one rank to another of the same node, through memory that both see.

#include <atomic>
#include <cstring>
#include <span>

#include "modes/ps/message.hpp"

namespace steelyard::ps {

/// One end of a ring of headers with one writer and one reader. A header and the word that says it is there
/// share a cache line, so one line crosses between the cores. The ring cannot overflow: a bundle has at most
/// one header under way, and the ring has room for one of each.
class Mailbox {
 public:
  Mailbox() = default;
  /// @param lines zeroed before the first use, borrowed.
  explicit Mailbox(std::span<Header> lines) : lines_(lines) {}

  /// Publishes what the writer has written before.
  void put(const Header& header) {
    Header& line = lines_[next_++ % lines_.size()];
    std::memcpy(static_cast<void*>(&line), &header, offsetof(Header, turn));
    Turn(line.turn).store(next_, std::memory_order_release);
  }
  /// @return whether there was one. What its writer had written before it is seen from now on.
  bool take(Header& header) {
    Header& line = lines_[next_ % lines_.size()];
    if (Turn(line.turn).load(std::memory_order_acquire) != next_ + 1) return false;
    std::memcpy(static_cast<void*>(&header), &line, offsetof(Header, turn));
    ++next_;
    return true;
  }

 private:
  using Turn = std::atomic_ref<std::uint64_t>;
  static_assert(Turn::is_always_lock_free, "a lock would be of one process");

  std::span<Header> lines_;
  std::uint64_t next_ = 0;  ///< Headers that this end has put or taken.
};

}  // namespace steelyard::ps
