#pragma once

/// @file
/// Why a placement is uneven, and what would cure it.

#include <span>
#include <string>

#include "src/cli/placement_figures.hpp"

namespace steelyard::cli {

/// Two sentences, every figure in them computed. The first says whether the placement is even and, if not,
/// its cause: weights that it does not heed, a tensor or piece larger than a fair share, or its rule. The
/// second names the even placement with the fewest messages, one that leaves servers to work one after the
/// other only if there is no other; of an even placement, whether messages are many or uneven.
/// @param chosen with shards, not refused.
/// @param others refused ones are passed over.
std::string explain(const PlacementTask& task, const PlacementFigures& chosen,
                    std::span<const PlacementFigures> others);

}  // namespace steelyard::cli
