#pragma once

/// @file
/// A fully connected layer. Weights are [out, in], row-major, as PyTorch stores them.

#include <cstddef>
#include "kernels/host_device.hpp"

namespace steelyard::kernels {

/// What follows the matrix product, one element, the same for CPU and GPU.
template <bool kRelu>
struct Activation {
  STEELYARD_HOST_DEVICE float operator()(float product, float bias) const {
    const float sum = product + bias;
    return kRelu && sum < 0.0F ? 0.0F : sum;  // A NaN travels on.
  }
};

/// The gradient before ReLU from that behind it.
struct Masked {
  STEELYARD_HOST_DEVICE float operator()(float y, float gradient) const { return y > 0.0F ? gradient : 0.0F; }
};

struct DenseShape {
  std::size_t batch = 0;
  std::size_t in = 0;
  std::size_t out = 0;
  bool relu = false;  ///< Whether max(0, .) follows.
};

/// y[batch, out] = x[batch, in] weights^T + bias[out], then ReLU if asked.
/// @param transposed scratch of batch x out.
void dense_forward(const DenseShape& shape, const float* x, const float* weights, const float* bias,
                   float* transposed, float* y);

/// Gradients of the weights and the bias, summed over the batch. With ReLU, `y_gradient` is first masked in
/// place where y is 0.
void dense_backward_weights(const DenseShape& shape, const float* x, const float* y, float* y_gradient,
                            float* weights_gradient, float* bias_gradient);

/// x_gradient[batch, in] = y_gradient[batch, out] weights; call after dense_backward_weights.
void dense_backward_data(const DenseShape& shape, const float* y_gradient, const float* weights,
                         float* x_gradient);

}  // namespace steelyard::kernels
