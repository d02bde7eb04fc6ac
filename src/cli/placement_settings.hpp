#pragma once

/// @file
/// The options of placements, turned into what a placement takes.

#include "modes/ps/placement/placement.hpp"
#include "src/cli/options.hpp"

namespace steelyard::cli {

/// Errors: an option given that has no effect on the chosen placement, and a file of an explicit one that
/// cannot be read. Servers and copies in memory stay as they are by default.
Expected<ps::PlacementOptions> placement_settings(const Options& options);

}  // namespace steelyard::cli
