#pragma once

/// @file
/// Words by which the ranks of a node tell each other how far they are.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "src/base/aligned.hpp"

namespace steelyard::mpi {

/// A view of counters in a shared window. They only grow. To raise one publishes all that its writer wrote
/// before; whoever sees it raised sees that too. Each has one writer and a cache line of its own.
class SharedCounters {
 public:
  static constexpr std::size_t bytes_for(std::size_t count) { return count * kCacheLine; }

  /// @param memory begins on a cache line, zeroed before the first use, borrowed.
  explicit SharedCounters(std::span<std::byte> memory) : memory_(memory) {}

  std::uint64_t load(std::size_t index) const { return at(index).load(std::memory_order_acquire); }
  void store(std::size_t index, std::uint64_t value) const {
    at(index).store(value, std::memory_order_release);
  }

 private:
  using Counter = std::atomic_ref<std::uint64_t>;
  static_assert(Counter::is_always_lock_free, "a lock would be of one process");
  Counter at(std::size_t index) const {
    return Counter(*reinterpret_cast<std::uint64_t*>(memory_.data() + index * kCacheLine));
  }

  std::span<std::byte> memory_;
};

}  // namespace steelyard::mpi
