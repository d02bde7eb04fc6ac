#include "src/mpi/clock_offset.hpp"

#include <limits>

namespace steelyard::mpi {
namespace {

constexpr int kExchanges = 8;

void answer(const Communicator& world, Rank peer, const std::function<std::int64_t()>& now_ns) {
  for (int i = 0; i < kExchanges; ++i) {
    std::int64_t time = 0;
    check(MPI_Recv(&time, 1, MPI_INT64_T, peer, 0, world.native(), MPI_STATUS_IGNORE));
    time = now_ns();
    check(MPI_Send(&time, 1, MPI_INT64_T, peer, 0, world.native()));
  }
}

ClockOffset ask(const Communicator& world, const std::function<std::int64_t()>& now_ns) {
  ClockOffset best{0, std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < kExchanges; ++i) {
    std::int64_t theirs = 0;
    const std::int64_t begin = now_ns();
    check(MPI_Sendrecv(&begin, 1, MPI_INT64_T, 0, 0, &theirs, 1, MPI_INT64_T, 0, 0, world.native(),
                       MPI_STATUS_IGNORE));
    const std::int64_t end = now_ns();
    const std::int64_t error = (end - begin + 1) / 2;
    if (error < best.error_ns) best = {theirs - (begin + (end - begin) / 2), error};
  }
  return best;
}

}  // namespace

ClockOffset measure_clock_offset(const Communicator& world, const std::function<std::int64_t()>& now_ns) {
  if (world.rank() != 0) return ask(world, now_ns);
  for (Rank peer = 1; peer < world.size(); ++peer) answer(world, peer, now_ns);
  return {};
}

}  // namespace steelyard::mpi
