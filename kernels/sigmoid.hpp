#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::kernels {

/// Sigmoid and binary cross-entropy, each class for itself: the sum over batch and classes of
/// -log(sigmoid(z)) where the class is among the tags, else -log(1 - sigmoid(z)). No z overflows.
/// `logits` [batch, classes] is replaced by the gradient of scale times that sum.
/// @param tags [batch], bit i says whether class i applies; `classes` is at most 16.
/// @return the sum.
double sigmoid_cross_entropy(std::size_t batch, std::size_t classes, const std::uint16_t* tags, float scale,
                             float* logits);

}  // namespace steelyard::kernels
