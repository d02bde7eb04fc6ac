#pragma once

/// @file
/// What ps and allreduce do unalike in a comparison beside what is compared.

#include <string>
#include <vector>

#include "src/cli/contest.hpp"

namespace steelyard::cli {

/// How the ranks of a contestant talked, as its trials recorded it.
struct Talk {
  std::string transport;  ///< shared, message, mixed, in_place, or "".
  std::string aggregate;  ///< ps: node or none.
};

/// One sentence each, with the option that removes it where there is one; empty where only one mode takes
/// part. @param talks [contestants]
std::vector<std::string> asymmetries(const Contest& contest, const std::vector<Talk>& talks,
                                     const mpi::Topology& topology);

}  // namespace steelyard::cli
