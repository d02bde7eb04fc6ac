#include "kernels/sigmoid.hpp"
#include "kernels/softmax.hpp"
#include "src/model/chain.hpp"

namespace steelyard {

BatchResult softmax_loss(const Batch& batch, std::size_t classes, float scale, float* logits) {
  const auto result =
      kernels::softmax_cross_entropy(batch.count, classes, batch.labels.data(), scale, logits);
  return {result.loss_sum, result.correct};
}

BatchResult sigmoid_loss(const Batch& batch, std::size_t classes, float scale, float* logits) {
  return {kernels::sigmoid_cross_entropy(batch.count, classes, batch.tags.data(), scale, logits)};
}

}  // namespace steelyard
