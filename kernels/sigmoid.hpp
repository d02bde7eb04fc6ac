#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

/// One class of one sample, the same for CPU and GPU.
struct SigmoidLogit {
  float scale;

  /// @param z the logit, replaced by the gradient of scale * loss. @return the loss.
  STEELYARD_HOST_DEVICE float operator()(float& z, bool applies) const {
    // Of both signs the exponential that cannot overflow: log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
    const float small = std::exp(-std::abs(z));
    const float wrong = applies ? -z : z;
    const float loss = (wrong < 0.0F ? 0.0F : wrong) + std::log1p(small);
    const float probability = (z >= 0.0F ? 1.0F : small) / (1.0F + small);
    z = scale * (probability - (applies ? 1.0F : 0.0F));
    return loss;
  }
};

/// Sigmoid and binary cross-entropy, each class for itself: the sum over batch and classes of
/// -log(sigmoid(z)) where the class is among the tags, else -log(1 - sigmoid(z)). No z overflows.
/// `logits` [batch, classes] is replaced by the gradient of scale times that sum.
/// @param tags [batch], bit i says whether class i applies; `classes` is at most 16.
/// @return the sum.
double sigmoid_cross_entropy(std::size_t batch, std::size_t classes, const std::uint16_t* tags, float scale,
                             float* logits);

}  // namespace steelyard::kernels
