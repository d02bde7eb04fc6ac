#pragma once

/// @file
/// How far the clocks of the ranks are apart.

#include <cstdint>
#include <functional>

#include "src/mpi/communicator.hpp"

namespace steelyard::mpi {

/// time on rank 0 = time here + offset_ns, within error_ns.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

/// Collective. Several exchanges with rank 0; the one with the least round trip counts, its error is half
/// of that round trip (Cristian 1989). Cost: ranks x exchanges round trips.
/// @param now_ns this rank's clock.
ClockOffset measure_clock_offset(const Communicator& world, const std::function<std::int64_t()>& now_ns);

}  // namespace steelyard::mpi
