#pragma once

/// @file
/// The few options that the MPI benchmarks take.

#include <string>
#include <string_view>
#include <vector>

#include "src/mpi/communicator.hpp"

namespace steelyard::bench {

/// What the command line asks for.
struct Options {
  int rounds = 15;
  bool quick = false;  ///< Fewer iterations per round.
  bool csv = false;    ///< A row for every round instead of a table for people; then one round is enough.
  std::vector<std::string> only;  ///< Contestants by name; empty for all.
};

/// The least number of rounds from which a 95 % interval of a median can be made.
inline constexpr int kLeastRounds = 6;

Expected<Options> parse_options(int argc, char** argv);

/// Collective: whether `options` and the number of ranks are good; if not, one rank says why.
/// @param most_ranks the benchmark runs on 2 to that many.
bool accept(const mpi::Communicator& world, const Expected<Options>& options, int most_ranks);

}  // namespace steelyard::bench
