#pragma once

/// @file
/// Placements for people, in 100 columns.

#include <span>
#include <string>

#include "src/cli/placement_figures.hpp"

namespace steelyard::cli {

/// The model, and what no placement of whole tensors can beat.
std::string model_text(const PlacementTask& task);

/// A row per placement, the most even first, of equals that with the fewest messages; then what is refused,
/// with the reasons.
std::string comparison_text(const PlacementTask& task, std::span<const PlacementFigures> placements);

/// One placement: a bar per server, and where the largest tensors are.
/// @param figures with shards.
std::string detail_text(const PlacementTask& task, const PlacementFigures& figures);

/// "1 tensor", "1,234 tensors".
std::string counted(std::size_t count, const char* what);

/// A name for the terminal: control characters become '?', and of too long a name the end is shown, which is
/// what tells names apart.
std::string shown_name(const std::string& name, std::size_t width);

/// "0-2,5"; what would take more than `width` characters ends in "..".
std::string ranges_text(const std::vector<int>& ascending, std::size_t width);

/// A tensor and its servers, ascending.
struct TensorOwners {
  TensorId tensor = 0;
  std::vector<int> servers;
};
/// The largest, by bytes, creation order among equals.
std::vector<TensorOwners> largest_tensors(const PlacementTask& task, const PlacementFigures& figures,
                                          std::size_t count);

}  // namespace steelyard::cli
