#pragma once

/// @file
/// The options of placements, turned into what a placement takes.

#include <span>
#include <string>

#include "modes/ps/placement/placement.hpp"
#include "src/cli/options.hpp"

namespace steelyard::cli {

/// Errors: an option given that has no effect on any of the chosen placements, and a file of an explicit one
/// that cannot be read. Servers and copies in memory stay as they are by default.
/// @param names placements, `explicit` with ":FILE" behind it.
Expected<ps::PlacementOptions> placement_settings(const Options& options, std::span<const std::string> names);

}  // namespace steelyard::cli
