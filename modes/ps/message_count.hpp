#pragma once

/// @file
/// How many messages the plan of a placement takes, without making the plan: for models of a million shards.

#include <vector>

#include "modes/ps/placement/placement.hpp"

namespace steelyard::ps {

/// [servers] messages of one worker's pushes in a step to ranks that do not share memory with it, gradients
/// in fp32: those of make_plan(inventory, cut_large(shards, piece_bytes), servers, bundle_bytes).
/// @param shards ordered by tensor and begin.
std::vector<std::size_t> pushed_messages(const std::vector<Shard>& shards, int servers,
                                         std::size_t bundle_bytes, std::size_t piece_bytes);

}  // namespace steelyard::ps
