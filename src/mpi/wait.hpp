#pragma once

/// @file
/// The one place that decides what a rank does while it waits.

#include <time.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "src/base/clock.hpp"
#include "src/base/expected.hpp"
#include "src/mpi/topology.hpp"

namespace steelyard::mpi {

enum class Wait : std::uint8_t {
#define WAIT(name, help) name,
#include "src/mpi/waits.def"
#undef WAIT
};

std::string_view wait_name(Wait wait);
/// "auto, spin, yield, ..." for messages, and one line each for `--help`.
std::string wait_names();
std::string wait_help();

/// @param name one of waits.def, or `auto`: spin where every rank of every node has a core; sleep where a CPU
/// quota makes waiting dear; else yield: chains of dependent messages meet no sleeps then, and the cores are
/// busy anyway.
Expected<Wait> choose_wait(std::string_view name, const Topology& topology);

/// The policy for conditions that MPI cannot block on, such as words in shared memory.
constexpr Wait polling(Wait wait) { return wait == Wait::block ? Wait::sleep : wait; }

/// What to do between two tests that both said "not yet".
class Backoff {
 public:
  explicit Backoff(Wait wait) : wait_(wait) {}
  void pause();

 private:
  Wait wait_;
  int tests_ = 0;
  std::int64_t begin_ns_ = 0;  ///< Of the first sleep.
};

/// Calls `done` until it holds; between calls it waits as `wait` says.
template <typename Done>
void wait_until(Wait wait, Done&& done) {
  for (Backoff backoff(wait); !done();) backoff.pause();
}

/// Progress between layers. A test moves what MPI handles at once, over TCP 128 KiB of a message, while the
/// layer before may have left much more in the sockets. So tests go on for a small part of the time that has
/// passed since the last chance, which costs a long layer little and a short one nothing.
class Chance {
 public:
  /// Calls `test` once, and again until it says that nothing is left to move or the time is used up.
  template <typename Test>
  void use(Test&& test) {
    const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    const std::int64_t end_ns = begin_ns + (begin_ns - last_ns_) / kPart;
    std::int64_t now_ns = begin_ns;
    while (!test() && (now_ns = clock_ns(CLOCK_MONOTONIC)) < end_ns) {
    }
    last_ns_ = now_ns;
  }

 private:
  static constexpr std::int64_t kPart = 50;
  std::int64_t last_ns_ = clock_ns(CLOCK_MONOTONIC);
};

/// Collective. As MPI_Barrier, but waits as `wait` says, so that ranks without work leave the cores alone.
void barrier(const Communicator& ranks, Wait wait);
/// As above, and calls `meanwhile` between two looks.
void barrier(const Communicator& ranks, Wait wait, const std::function<void()>& meanwhile);
/// Collective. Overwrites `bytes`, fewer than 2^31, with those of `root`, and waits likewise.
void broadcast(const Communicator& ranks, std::span<std::byte> bytes, Rank root, Wait wait);

}  // namespace steelyard::mpi
