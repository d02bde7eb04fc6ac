#include "tests/bench/support/ping_pong.hpp"

#include <algorithm>
#include <utility>

#include "src/mpi/wait.hpp"
#include "tests/bench/support/timing.hpp"

namespace steelyard::bench {
namespace {

constexpr int kPayloadTag = 0;
constexpr int kReadyTag = 1;

}  // namespace

PingPong::PingPong(const mpi::Communicator& ranks, std::size_t bytes, Work work)
    : ranks_(ranks), out_(bytes / sizeof(float)), in_(out_.size()), work_(std::move(work)) {}

void PingPong::write(int iteration) {
  const bool work_writes = ranks_.rank() == 1 && work_;
  if (!work_writes) std::ranges::fill(out_.span(), static_cast<float>(iteration));
}

void PingPong::send(Rank to) {
  const auto bytes = std::as_bytes(out_.span());
  mpi::check(MPI_Send(bytes.data(), mpi::count(bytes.size()), MPI_BYTE, to, kPayloadTag, ranks_.native()));
}

void PingPong::receive(Rank from) {
  const auto bytes = std::as_writable_bytes(in_.span());
  mpi::check(MPI_Recv(bytes.data(), mpi::count(bytes.size()), MPI_BYTE, from, kPayloadTag, ranks_.native(),
                      MPI_STATUS_IGNORE));
}

/// Begins when the peer has written its answer and is about to receive.
double PingPong::round_trip() {
  mpi::check(MPI_Recv(nullptr, 0, MPI_BYTE, 1, kReadyTag, ranks_.native(), MPI_STATUS_IGNORE));
  const double begin_s = now_s();
  send(1);
  receive(1);
  return now_s() - begin_s;
}

void PingPong::answer() {
  mpi::check(MPI_Send(nullptr, 0, MPI_BYTE, 0, kReadyTag, ranks_.native()));
  receive(0);
  if (work_) work_(in_.span(), out_.span());
  send(0);
}

std::vector<double> PingPong::run(int timed) {
  std::vector<double> seconds;
  mpi::barrier(ranks_, mpi::Wait::yield);
  for (int i = -kWarmup; i < timed && ranks_.rank() < 2; ++i) {
    write(i);
    if (ranks_.rank() == 1) {
      answer();
      continue;
    }
    const double one = round_trip();
    if (i >= 0) seconds.push_back(one);
  }
  // Ranks that only wait leave the cores to the two that work.
  mpi::barrier(ranks_, ranks_.rank() > 1 ? mpi::Wait::sleep : mpi::Wait::yield);
  return seconds;
}

}  // namespace steelyard::bench
