#include "src/mpi/alarm.hpp"

#include <algorithm>
#include <sstream>

#include "src/mpi/wait.hpp"

namespace steelyard::mpi {
namespace {

constexpr int kTag = 1;

/// "step 7, call 31: allreduce of 4096 elements"
std::string place(const Standing& one) {
  return "step " + std::to_string(one.step) + ", call " + std::to_string(one.call) + ": " + one.name +
         " of " + std::to_string(one.elements) + " elements";
}

bool same_call(const Standing& a, const Standing& b) {
  return a.call == b.call && a.elements == b.elements && std::string_view(a.name) == b.name;
}

std::string rank_text(std::size_t rank) { return "rank " + std::to_string(rank); }

}  // namespace

bool Alarm::raised() const {
  int there = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kTag, ranks_.native(), &there, MPI_STATUS_IGNORE));
  return there != 0;
}

std::vector<std::optional<Standing>> Alarm::exchange(const Standing& mine, std::int64_t patience_ns) const {
  std::vector<std::optional<Standing>> all(static_cast<std::size_t>(ranks_.size()));
  std::vector<MPI_Request> sends(all.size(), MPI_REQUEST_NULL);
  for (Rank rank = 0; rank < ranks_.size(); ++rank)
    if (rank != ranks_.rank())
      check(MPI_Isend(&mine, sizeof mine, MPI_BYTE, rank, kTag, ranks_.native(),
                      &sends[static_cast<std::size_t>(rank)]));
  all[static_cast<std::size_t>(ranks_.rank())] = mine;
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
  wait_until(Wait::sleep, [&] {
    int there = 0;
    MPI_Status status{};
    while (MPI_Iprobe(MPI_ANY_SOURCE, kTag, ranks_.native(), &there, &status) == MPI_SUCCESS && there != 0) {
      Standing& other = all[static_cast<std::size_t>(status.MPI_SOURCE)].emplace();
      check(MPI_Recv(&other, sizeof other, MPI_BYTE, status.MPI_SOURCE, kTag, ranks_.native(),
                     MPI_STATUS_IGNORE));
    }
    return std::ranges::all_of(all, [](const auto& one) { return one.has_value(); }) ||
           clock_ns(CLOCK_MONOTONIC) >= end_ns;
  });
  // Who never receives must not hold up the end: small sends have left, and the job ends with the others.
  for (MPI_Request& send : sends)
    if (send != MPI_REQUEST_NULL) check(MPI_Request_free(&send));
  return all;
}

std::string explain(const std::vector<std::optional<Standing>>& standings, double waited_s) {
  const Standing* first = nullptr;
  std::string silent;
  std::string unlike;
  std::string failed;
  bool failed_is_echo = false;
  for (std::size_t rank = 0; rank < standings.size(); ++rank) {
    const auto& one = standings[rank];
    if (!one) {
      silent += (silent.empty() ? "" : ", ") + rank_text(rank);
      continue;
    }
    if (*one->reason != '\0' && (failed.empty() || (failed_is_echo && !one->is_echo))) {
      failed = rank_text(rank) + ", " + place(*one) + ": " + one->reason;
      failed_is_echo = one->is_echo;
    }
    if (first == nullptr) first = &*one;
    if (unlike.empty() && !same_call(*one, *first)) unlike = rank_text(rank) + " is at " + place(*one);
  }
  std::ostringstream waited_text;
  waited_text << waited_s << " s (--timeout)";
  const std::string waited = waited_text.str();
  if (!failed.empty()) return failed;
  const std::string others = first == nullptr ? "" : place(*first);
  if (!silent.empty()) return silent + " did not come on within " + waited + "; others wait in " + others;
  if (!unlike.empty()) return "no progress for " + waited + ": " + unlike + ", others are at " + others;
  return "no progress for " + waited + ": all ranks wait in " + others;
}

}  // namespace steelyard::mpi
