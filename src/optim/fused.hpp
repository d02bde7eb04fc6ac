#pragma once

/// @file
/// Sums gradients and updates values in one pass over memory.

#include "src/optim/optimizer.hpp"

namespace steelyard {

/// Elements that apply_sum updates at a time: 8 KiB, so that the sum, one summand, values and state fit the
/// first-level cache.
inline constexpr std::size_t kUpdateBlock = 2048;

/// target[n] = the sum of `summands` [n] each, at least one, from left to right. The first may be the target;
/// otherwise they lie apart from it.
void sum(std::span<const float* const> summands, std::span<float> target);

/// As optimizer.apply with the sum of `gradients` [n] each for update.gradient, which is not looked at. The
/// sum never leaves the first-level cache, and the bits are those of sum() followed by apply().
/// State lies block by block, so the same elements must always be updated by the same calls.
void apply_sum(const Optimizer& optimizer, std::span<const float* const> gradients, const Update& update);

}  // namespace steelyard
