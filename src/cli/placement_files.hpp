#pragma once

/// @file
/// Placements for programs: JSON (docs/json.md), CSV, and explicit placements.

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "src/cli/placement_figures.hpp"

namespace steelyard::cli {

/// @param explanation of --explain; "" becomes null.
nlohmann::json placements_json(const PlacementTask& task, std::span<const PlacementFigures> placements,
                               const std::string& explanation);

/// A row per placement and server.
std::string placements_csv(const PlacementTask& task, std::span<const PlacementFigures> placements);

/// The file that gives the placement back, tried. Errors: names that such a file cannot tell apart.
/// @param figures with shards.
Expected<std::string> explicit_text(const PlacementTask& task, const PlacementFigures& figures);

}  // namespace steelyard::cli
