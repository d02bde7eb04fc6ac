#pragma once

/// @file
/// Placements that this process has computed: every question about a trial asks for its placement again, and
/// `optimal` works for seconds.

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

/// As `place`, from memory if it is among the last few.
Expected<Placed> remembered_place(std::string_view name, const Inventory& inventory,
                                  const PlacementOptions& options);

}  // namespace steelyard::ps
