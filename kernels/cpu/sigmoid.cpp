#include "kernels/sigmoid.hpp"

namespace steelyard::kernels {

double sigmoid_cross_entropy(std::size_t batch, std::size_t classes, const std::uint16_t* tags, float scale,
                             float* logits) {
  double loss_sum = 0.0;
  const SigmoidLogit of_logit{scale};
  for (std::size_t row = 0; row < batch; ++row)
    for (std::size_t i = 0; i < classes; ++i)
      loss_sum += static_cast<double>(of_logit(logits[row * classes + i], (tags[row] >> i & 1U) != 0));
  return loss_sum;
}

}  // namespace steelyard::kernels
