#pragma once

/// @file
/// What is around the matrix products of a fully connected layer.

#include "kernels/cuda/queue.hpp"
#include "kernels/dense.hpp"

namespace steelyard::kernels {

/// y[batch, out] += bias[out], then ReLU if asked.
void activate(const Queue& queue, const DenseShape& shape, const float* bias, float* y);

/// With ReLU, masks `y_gradient` in place where y is 0; then bias_gradient[out] = its sums over the batch.
void pass_dense_gradient(const Queue& queue, const DenseShape& shape, const float* y, float* y_gradient,
                         float* bias_gradient);

}  // namespace steelyard::kernels
