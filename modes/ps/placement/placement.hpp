#pragma once

/// @file
/// Which server owns which shard. A placement is a pure function: every rank computes the same answer alone.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/inventory.hpp"

namespace steelyard::ps {

/// Elements [begin, end) of a tensor, flat and row-major; never empty.
struct Shard {
  TensorId tensor = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
  int server = 0;

  std::size_t elements() const { return end - begin; }
  bool operator==(const Shard&) const = default;
};

struct PlacementOptions {
  int servers = 1;
  std::size_t offset = 0;  ///< round_robin: the server of the first tensor.
};

/// @return every element exactly once, ordered by tensor and begin.
using Placement = std::vector<Shard>(const Inventory& inventory, const PlacementOptions& options);

/// @param name one of placements.def.
Expected<Placement*> find_placement(std::string_view name);
std::string placement_help();

/// One shard per tensor, tensor i on owner_of[i].
std::vector<Shard> whole_tensors(const Inventory& inventory, std::span<const int> owner_of);

/// Puts the tensors in the order `order`, each on the server with the fewest bytes so far, the lowest of
/// equals.
std::vector<int> least_loaded(const Inventory& inventory, std::span<const std::size_t> order, int servers);

}  // namespace steelyard::ps
