#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard::kernels {

struct SoftmaxResult {
  double loss_sum = 0.0;    ///< Cross-entropy, summed over the batch.
  std::size_t correct = 0;  ///< Rows whose greatest logit is the label's.
};

/// Softmax and cross-entropy. `logits` [batch, classes] is replaced by the gradient of scale * loss_sum.
/// @param labels [batch], each below `classes`.
SoftmaxResult softmax_cross_entropy(std::size_t batch, std::size_t classes, const std::uint8_t* labels,
                                    float scale, float* logits);

}  // namespace steelyard::kernels
