#include "kernels/softmax.hpp"

namespace steelyard::kernels {

SoftmaxResult softmax_cross_entropy(std::size_t batch, std::size_t classes, const std::uint8_t* labels,
                                    float scale, float* logits) {
  SoftmaxResult result;
  const SoftmaxRow of_row{classes, scale};
  for (std::size_t row = 0; row < batch; ++row) {
    const auto [loss, correct] = of_row(logits + row * classes, labels[row]);
    result.loss_sum += static_cast<double>(loss);
    result.correct += correct ? 1 : 0;
  }
  return result;
}

}  // namespace steelyard::kernels
