#include "kernels/dense.hpp"

#include <algorithm>

#include "kernels/gemm.hpp"

namespace steelyard::kernels {

namespace {

/// y[batch, out] = the transpose of transposed[out, batch], plus bias, ReLU if asked; in squares that stay in
/// the cache.
template <bool kRelu>
void finish(const DenseShape& s, const float* __restrict transposed, const float* __restrict bias,
            float* __restrict y) {
  constexpr std::size_t kSide = 16;
  for (std::size_t out = 0; out < s.out; out += kSide)
    for (std::size_t row = 0; row < s.batch; row += kSide)
      for (std::size_t i = row; i < std::min(row + kSide, s.batch); ++i)
        for (std::size_t j = out; j < std::min(out + kSide, s.out); ++j)
          y[i * s.out + j] = Activation<kRelu>{}(transposed[j * s.batch + i], bias[j]);
}

}  // namespace

void dense_forward(const DenseShape& s, const float* x, const float* weights, const float* bias,
                   float* transposed, float* y) {
  // Libraries are a third slower where the large operand, the weights, is the one to be transposed.
  gemm({Op::none, Op::transpose, s.out, s.batch, s.in}, weights, x, transposed);
  (s.relu ? finish<true> : finish<false>)(s, transposed, bias, y);
}

void dense_backward_weights(const DenseShape& s, const float* x, const float* y, float* y_gradient,
                            float* weights_gradient, float* bias_gradient) {
  if (s.relu)
    for (std::size_t i = 0; i < s.batch * s.out; ++i) y_gradient[i] = Masked{}(y[i], y_gradient[i]);
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
