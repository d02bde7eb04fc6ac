#pragma once

/// @file
/// The figures of placements of one model, for `place`. Computed, not measured.

#include <optional>
#include <string>
#include <vector>

#include "modes/ps/placement/placement.hpp"
#include "src/trace/metrics.hpp"

namespace steelyard::cli {

/// From here on a placement is called uneven: max/mean of bytes over weights.
inline constexpr double kEvenEnough = 1.02;

/// A model and what is asked of its placements.
struct PlacementTask {
  std::string model;
  Inventory inventory;
  std::vector<std::string> names;  ///< Of placements, each once.
  ps::PlacementOptions options;
  std::size_t bundle_bytes = 0;
  std::size_t piece_bytes = 0;

  std::size_t servers() const { return static_cast<std::size_t>(options.servers); }
  /// Its weight, 1 where none are given.
  double weight(std::size_t server) const { return options.weights.empty() ? 1.0 : options.weights[server]; }
  double weights() const;
  std::size_t bytes() const;
  /// Bytes that would be a server's part of an even placement.
  double fair_share(std::size_t server) const;
};

struct PlacementFigures {
  std::string name;
  std::string refused;                     ///< Why; then there are no figures. Empty: not refused.
  std::vector<ps::Shard> shards;           ///< Empty where it was not to be kept.
  std::vector<std::size_t> server_bytes;   ///< [servers]
  std::vector<std::size_t> server_shards;  ///< [servers]
  std::vector<std::size_t>
      server_messages;  ///< [servers] of one worker's pushes in a step; message_count.hpp.
  std::size_t shard_count = 0;
  std::size_t messages = 0;
  std::size_t cut_tensors = 0;
  trace::Imbalance imbalance;  ///< Of bytes over weights; the mean of max/mean is all bytes over all weights.
  std::size_t fullest = 0;     ///< The server with the most bytes for its weight, the lowest of equals.
  std::optional<ps::Optimum> optimum;

  std::size_t most_messages() const;  ///< To one server.
};

/// No placement of whole tensors has a lower max/mean: the largest tensor on the heaviest server, over its
/// fair share, and at least 1.
double whole_tensor_bound(const PlacementTask& task);

/// @param keep_shards for who wants more than figures.
PlacementFigures figures_of(const PlacementTask& task, const std::string& name, bool keep_shards);

}  // namespace steelyard::cli
