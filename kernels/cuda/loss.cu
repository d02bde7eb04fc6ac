#include "kernels/cuda/loss.hpp"

#include "kernels/cuda/reduce.cuh"

namespace steelyard::kernels {
namespace {

/// One block, since it is the sum that takes the time of so few logits.
__global__ void __launch_bounds__(kThreads)
    softmax(std::size_t batch, SoftmaxRow of_row, const std::uint8_t* labels, float* logits,
            SoftmaxResult* result) {
  double loss_sum = 0.0;
  unsigned correct = 0;
  for (std::size_t row = threadIdx.x; row < batch; row += kThreads) {
    const auto [loss, right] = of_row(logits + row * of_row.classes, labels[row]);
    loss_sum += static_cast<double>(loss);
    correct += right ? 1 : 0;
  }
  loss_sum = block_sum(loss_sum);
  correct = block_sum(correct);
  if (threadIdx.x == 0) *result = {loss_sum, correct};
}

__global__ void __launch_bounds__(kThreads)
    sigmoid(std::size_t batch, std::size_t classes, SigmoidLogit of_logit, const std::uint16_t* tags,
            float* logits, double* loss_sum) {
  double mine = 0.0;
  for (std::size_t i = threadIdx.x; i < batch * classes; i += kThreads)
    mine += static_cast<double>(of_logit(logits[i], (tags[i / classes] >> i % classes & 1U) != 0));
  mine = block_sum(mine);
  if (threadIdx.x == 0) *loss_sum = mine;
}

}  // namespace

void softmax_cross_entropy(const Queue& queue, std::size_t batch, std::size_t classes,
                           const std::uint8_t* labels, float scale, float* logits, SoftmaxResult* result) {
  softmax<<<1, kThreads, 0, queue.stream>>>(batch, SoftmaxRow{classes, scale}, labels, logits, result);
  check_launch(queue, "softmax_cross_entropy");
}

void sigmoid_cross_entropy(const Queue& queue, std::size_t batch, std::size_t classes,
                           const std::uint16_t* tags, float scale, float* logits, double* loss_sum) {
  sigmoid<<<1, kThreads, 0, queue.stream>>>(batch, classes, SigmoidLogit{scale}, tags, logits, loss_sum);
  check_launch(queue, "sigmoid_cross_entropy");
}

}  // namespace steelyard::kernels
