#pragma once

/// @file
/// Whole tensors on servers as a packing problem: items into bins, the fullest as little as can be. A level
/// is the load that a weight of one bears, in units of 1 / scale; at a level every bin has a room, and the
/// question is whether the items fit. Integers alone, and work is counted in steps, not seconds: every rank
/// and every build gives the same answer.

#include <optional>
#include <vector>

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {

struct Packing {
  std::vector<std::size_t> sizes;     ///< [items] descending, divided by their greatest common divisor.
  std::vector<std::size_t> weights;   ///< [bins] divided by theirs.
  std::vector<std::size_t> capacity;  ///< [bins] that memory allows.
  std::size_t total = 0;              ///< Sum of the sizes.
  std::size_t unit = 1;               ///< What the sizes were divided by, in bytes.
  Wide scale = 1;                     ///< 1 with equal weights: levels are loads.

  /// Room of a bin at a level.
  std::size_t room(std::size_t bin, Wide level) const;
  std::vector<std::size_t> rooms(Wide level) const;
  /// The least level at which a bin holds that much.
  Wide level_of(std::size_t bin, std::size_t load) const;
};

/// [items] the bin of each.
using Assignment = std::vector<int>;

/// @return the least level that the assignment needs; none if memory does not do.
std::optional<Wide> level_of(const Packing& packing, const Assignment& bins);

/// A level below which nothing fits: by sums, by the largest items, by Martello and Toth's bound L2 (1990).
Wide level_bound(const Packing& packing);

/// Coffman, Garey and Johnson's Multifit (1978): first fit decreasing at levels found by bisection.
std::optional<Assignment> multifit(const Packing& packing, Wide low, Wide high);

struct Search {
  enum class Answer { found, impossible, unknown };
  Answer answer = Answer::unknown;
  Assignment bins;  ///< If found.
};

/// Whether the items fit into bins of these rooms, by bin completion (Korf 2002): bin after bin takes a set
/// of items that leaves no more room than all bins together may leave, and to which no other item can be
/// added.
/// @param steps that may be taken; what is taken is subtracted.
Search complete_bins(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& rooms,
                     std::size_t& steps);

}  // namespace steelyard::ps
