#pragma once

/// @file
/// The few options that both benchmarks take.

#include <string_view>

#include "src/mpi/communicator.hpp"

namespace steelyard::bench {

/// What the command line asks for.
struct Options {
  int rounds = 15;
  bool quick = false;  ///< Fewer iterations per round.
  bool csv = false;    ///< Rows for a program to read instead of a table for people.
};

/// The least number of rounds from which a 95 % interval of a median can be made.
inline constexpr int kLeastRounds = 6;

Expected<Options> parse_options(int argc, char** argv);

/// Collective: whether `options` and the number of ranks are good; if not, one rank says why.
/// @param most_ranks the benchmark runs on 2 to that many.
bool accept(const mpi::Communicator& world, const Expected<Options>& options, int most_ranks);

}  // namespace steelyard::bench
