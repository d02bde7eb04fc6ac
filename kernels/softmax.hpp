#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

/// One sample, the same for CPU and GPU.
struct SoftmaxRow {
  struct Result {
    float loss;
    bool correct;  ///< The greatest logit is the label's.
  };

  std::size_t classes;
  float scale;

  /// @param z [classes] logits, replaced by the gradient of scale * loss.
  STEELYARD_HOST_DEVICE Result operator()(float* z, std::size_t label) const {
    std::size_t top = 0;
    for (std::size_t i = 1; i < classes; ++i)
      if (z[top] < z[i]) top = i;
    const float greatest = z[top];
    const float at_label = z[label] - greatest;
    float sum = 0.0F;
    for (std::size_t i = 0; i < classes; ++i) {
      z[i] = std::exp(z[i] - greatest);
      sum += z[i];
    }
    for (std::size_t i = 0; i < classes; ++i) z[i] *= scale / sum;
    z[label] -= scale;
    return {std::log(sum) - at_label, top == label};
  }
};

struct SoftmaxResult {
  double loss_sum = 0.0;    ///< Cross-entropy, summed over the batch.
  std::size_t correct = 0;  ///< Rows whose greatest logit is the label's.
};

/// Softmax and cross-entropy. `logits` [batch, classes] is replaced by the gradient of scale * loss_sum.
/// @param labels [batch], each below `classes`.
SoftmaxResult softmax_cross_entropy(std::size_t batch, std::size_t classes, const std::uint8_t* labels,
                                    float scale, float* logits);

}  // namespace steelyard::kernels
