#pragma once

/// @file
/// What ps and allreduce do unalike in a comparison beside what is compared.

#include <string>
#include <vector>

#include "src/cli/contest.hpp"

namespace steelyard::cli {

/// One sentence each, with the option that removes it where there is one; empty where only one mode takes
/// part. @param transports [contestants] as the trials ran: shared, message, mixed, in_place, or "".
std::vector<std::string> asymmetries(const Contest& contest, const std::vector<std::string>& transports,
                                     const mpi::Topology& topology);

}  // namespace steelyard::cli
