#pragma once

/// @file
/// Memory that the processes of a communicator share: a pipe from every rank to every other.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace steelyard::fake_gpu {

/// One rank writes, one reads; begins as zeros. Bytes that were written and not yet read: written - read.
struct Pipe {
  static constexpr std::size_t kBytes = std::size_t{64} << 10U;
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
  alignas(64) std::array<std::byte, kBytes> bytes;
};

struct SharedState {
  static constexpr int kMostRanks = 64;
  std::atomic<int> joined;
  std::atomic<int> failed;                           ///< 1 + the rank that failed; 0: none.
  std::array<std::atomic<int>, kMostRanks> devices;  ///< 1 + the device of each rank; 0: not joined yet.
};

class Segment {
 public:
  /// Makes it, or opens it where another rank has made it. @param ranks at most SharedState::kMostRanks.
  Segment(const std::string& name, int ranks);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Nobody can open it any more; those who have keep it.
  void unlink() const;
  SharedState& state() const { return *static_cast<SharedState*>(memory_); }
  Pipe& pipe(int from, int to) const;

 private:
  std::string name_;
  int ranks_;
  std::size_t bytes_;
  void* memory_;
};

}  // namespace steelyard::fake_gpu
