#include "src/mpi/wait.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "src/base/clock.hpp"

namespace steelyard::mpi {
namespace {

struct Row {
  std::string_view name;
  std::string_view help;
};
constexpr std::array kRows = {
#define WAIT(name, help) Row{#name, help},
#include "src/mpi/waits.def"
#undef WAIT
};

// A message between two ranks of a node arrives within microseconds, so the first tests are back to back;
// then the core goes to whoever can use it. A sleep is at most a sixteenth of the wait so far, so what comes
// is noticed late by at most that share, and a long wait costs few tests: each takes some microseconds of a
// core, which a host with a slice of a core cannot spare.
constexpr int kEagerTests = 64;
constexpr int kYields = 64;
constexpr std::int64_t kPartOfWait = 16;
constexpr std::int64_t kShortestSleepNs = 20'000;
constexpr std::int64_t kLongestSleepNs = 1'000'000;

/// Tells the core that this is a spin loop.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void sleep_ns(std::int64_t duration_ns) {
  make_sleeps_precise();
  const timespec duration{0, duration_ns};
  nanosleep(&duration, nullptr);
}

void complete(MPI_Request& request, Wait wait) {
  if (wait == Wait::block) {
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return;
  }
  wait_until(wait, [&request] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  });
}

}  // namespace

std::string_view wait_name(Wait wait) { return kRows[static_cast<std::size_t>(wait)].name; }

std::string wait_names() {
  std::string names = "auto";
  for (const Row& row : kRows) names += ", " + std::string(row.name);
  return names;
}

std::string wait_help() {
  std::string lines =
      "auto: spin where every rank has a core; sleep under a CPU quota or where compute sleeps; else yield";
  for (const Row& row : kRows) lines += "\n" + std::string(row.name) + ": " + std::string(row.help);
  return lines;
}

Expected<Wait> choose_wait(std::string_view name, const Topology& topology) {
  if (name == "auto")
    return !topology.short_of_cores ? Wait::spin : topology.local_cpu < 1.0 ? Wait::sleep : Wait::yield;
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<Wait>(i);
  return Error{"unknown wait policy '" + std::string(name) + "'; choose one of: " + wait_names()};
}

void Backoff::pause() {
  ++tests_;
  if (wait_ == Wait::spin || wait_ == Wait::block || tests_ < kEagerTests) {
    relax();
    return;
  }
  if (wait_ == Wait::yield || tests_ < kEagerTests + kYields) {
    sched_yield();
    return;
  }
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
  if (begin_ns_ == 0) begin_ns_ = now;
  sleep_ns(std::clamp((now - begin_ns_) / kPartOfWait, kShortestSleepNs, kLongestSleepNs));
}

void barrier(const Communicator& ranks, Wait wait) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks.native(), &request));
  complete(request, wait);
}

void barrier(const Communicator& ranks, Wait wait, const std::function<void()>& meanwhile) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks.native(), &request));
  wait_until(polling(wait), [&] {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) meanwhile();
    return done != 0;
  });
}

void broadcast(const Communicator& ranks, std::span<std::byte> bytes, Rank root, Wait wait) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(bytes.data(), count(bytes.size()), MPI_BYTE, root, ranks.native(), &request));
  complete(request, wait);
}

}  // namespace steelyard::mpi
