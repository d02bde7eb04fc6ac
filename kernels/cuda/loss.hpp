#pragma once

/// @file
/// The results are numbers in the device's memory; `logits` [batch, classes] become gradients as on the CPU.

#include "kernels/cuda/queue.hpp"
#include "kernels/sigmoid.hpp"
#include "kernels/softmax.hpp"

namespace steelyard::kernels {

void softmax_cross_entropy(const Queue& queue, std::size_t batch, std::size_t classes,
                           const std::uint8_t* labels, float scale, float* logits, SoftmaxResult* result);
void sigmoid_cross_entropy(const Queue& queue, std::size_t batch, std::size_t classes,
                           const std::uint16_t* tags, float scale, float* logits, double* loss_sum);

}  // namespace steelyard::kernels
