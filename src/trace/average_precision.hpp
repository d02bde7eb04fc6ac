#pragma once

/// @file
/// How well scores put the samples that have a tag before those that have not.

#include <cstddef>
#include <cstdint>
#include <span>

namespace steelyard::trace {

/// Mean average precision. The average precision of a tag is the mean, over the samples that have it, of the
/// precision at each one's score: of the samples that score at least as high, the share that has the tag. So
/// equal scores count alike, in whatever order the samples come. It is sum_n (R_n - R_{n-1}) P_n over the
/// distinct scores, as scikit-learn's average_precision_score has it; the mean over the tags ("macro") leaves
/// out those that no sample has. 1 is perfect; scores without meaning give about the share of samples that
/// have a tag. Cost: classes x count log count.
/// @param scores [count, classes] @param tags [count], bit i says whether class i applies; up to 16 classes.
/// @return NaN where no sample has a tag, or where a score is NaN and has no place in an order.
double mean_average_precision(std::span<const float> scores, std::span<const std::uint16_t> tags,
                              std::size_t classes);

}  // namespace steelyard::trace
