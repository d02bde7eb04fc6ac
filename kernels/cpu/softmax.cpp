#include "kernels/softmax.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::kernels {

SoftmaxResult softmax_cross_entropy(std::size_t batch, std::size_t classes, const std::uint8_t* labels,
                                    float scale, float* logits) {
  SoftmaxResult result;
  for (std::size_t row = 0; row < batch; ++row) {
    float* z = logits + row * classes;
    const std::size_t label = labels[row];
    const float* top = std::max_element(z, z + classes);
    if (top == z + label) ++result.correct;
    const float greatest = *top;
    const float at_label = z[label] - greatest;
    float sum = 0.0F;
    for (std::size_t i = 0; i < classes; ++i) {
      z[i] = std::exp(z[i] - greatest);
      sum += z[i];
    }
    result.loss_sum += static_cast<double>(std::log(sum) - at_label);
    for (std::size_t i = 0; i < classes; ++i) z[i] *= scale / sum;
    z[label] -= scale;
  }
  return result;
}

}  // namespace steelyard::kernels
