#include "kernels/dense.hpp"

#include <algorithm>

#include "kernels/gemm.hpp"

namespace steelyard::kernels {

void dense_forward(const DenseShape& s, const float* x, const float* weights, const float* bias, float* y) {
  gemm({Op::none, Op::transpose, s.batch, s.out, s.in}, x, weights, y);
  for (std::size_t row = 0; row < s.batch; ++row) {
    float* __restrict out = y + row * s.out;
    if (s.relu)
      for (std::size_t i = 0; i < s.out; ++i) out[i] = std::max(out[i] + bias[i], 0.0F);
    else
      for (std::size_t i = 0; i < s.out; ++i) out[i] += bias[i];
  }
}

void dense_backward_weights(const DenseShape& s, const float* x, const float* y, float* y_gradient,
                            float* weights_gradient, float* bias_gradient) {
  if (s.relu)
    for (std::size_t i = 0; i < s.batch * s.out; ++i) y_gradient[i] = y[i] > 0.0F ? y_gradient[i] : 0.0F;
  gemm({Op::transpose, Op::none, s.out, s.in, s.batch}, y_gradient, x, weights_gradient);
  std::fill_n(bias_gradient, s.out, 0.0F);
  for (std::size_t row = 0; row < s.batch; ++row) {
    const float* __restrict from = y_gradient + row * s.out;
    for (std::size_t i = 0; i < s.out; ++i) bias_gradient[i] += from[i];
  }
}

void dense_backward_data(const DenseShape& s, const float* y_gradient, const float* weights,
                         float* x_gradient) {
  gemm({Op::none, Op::none, s.batch, s.in, s.out}, y_gradient, weights, x_gradient);
}

}  // namespace steelyard::kernels
