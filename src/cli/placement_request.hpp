#pragma once

/// @file
/// What the command line of `place` asks for.

#include "src/cli/options.hpp"
#include "src/cli/placement_figures.hpp"

namespace steelyard::cli {

/// Errors: an unknown model or placement, a model file that cannot be read, options without effect.
Expected<PlacementTask> placement_task(const Options& options);

/// All placements but `explicit`.
std::vector<std::string> all_placements();

/// For work on many placements: `optimal` gets a twentieth of --time-limit unless the user gave one.
ps::PlacementOptions among_many(const Options& options, ps::PlacementOptions placement);

}  // namespace steelyard::cli
