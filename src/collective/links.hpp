#pragma once

/// @file
/// Which ranks an allreduce sends messages between, for backends that say theirs as a schedule.

#include <string_view>

#include "src/base/types.hpp"

namespace steelyard {

/// Whether every message of the backend is one of a schedule: ring, recursive.
bool has_schedule(std::string_view backend);
std::string_view scheduled_backends();

/// Whether ranks `a` and `b` of `ranks` send each other something. @param backend has a schedule.
bool are_linked(std::string_view backend, int ranks, Rank a, Rank b);

}  // namespace steelyard
