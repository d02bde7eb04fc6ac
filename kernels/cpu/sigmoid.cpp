#include "kernels/sigmoid.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::kernels {

double sigmoid_cross_entropy(std::size_t batch, std::size_t classes, const std::uint16_t* tags, float scale,
                             float* logits) {
  double loss_sum = 0.0;
  for (std::size_t row = 0; row < batch; ++row) {
    float* z = logits + row * classes;
    for (std::size_t i = 0; i < classes; ++i) {
      const bool applies = (tags[row] >> i & 1U) != 0;
      // Of both signs the exponential that cannot overflow: log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
      const float small = std::exp(-std::abs(z[i]));
      const float wrong = applies ? -z[i] : z[i];
      loss_sum += static_cast<double>(std::max(wrong, 0.0F) + std::log1p(small));
      const float probability = (z[i] >= 0.0F ? 1.0F : small) / (1.0F + small);
      z[i] = scale * (probability - (applies ? 1.0F : 0.0F));
    }
  }
  return loss_sum;
}

}  // namespace steelyard::kernels
