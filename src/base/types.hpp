#pragma once

/// @file
/// Vocabulary shared by every layer.

#include <cstddef>
#include <cstdint>

namespace steelyard {

using Rank = int;                ///< Position in the world communicator.
using Step = std::int64_t;       ///< Index of a training step, from 0.
using Clock = std::int64_t;      ///< Number of steps a worker has completed.
using TensorId = std::uint32_t;  ///< Index into the inventory.
using ShardId = std::uint32_t;   ///< Index into the placement's list of shards.
using BundleId = std::uint32_t;  ///< Index into the communication plan's list of bundles.

}  // namespace steelyard
