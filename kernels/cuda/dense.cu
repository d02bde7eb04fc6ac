#include "kernels/cuda/dense.hpp"

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {
namespace {

template <bool kRelu>
struct ActivateBody {
  std::size_t out;
  const float* bias;
  float* y;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    auto values = load<N>(y + i);
    for (std::size_t k = 0; k < N; ++k) values.at[k] = Activation<kRelu>{}(values.at[k], bias[(i + k) % out]);
    store(y + i, values);
  }
};

struct MaskBody {
  const float* y;
  float* gradient;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto values = load<N>(y + i);
    auto masked = load<N>(gradient + i);
    for (std::size_t k = 0; k < N; ++k) masked.at[k] = Masked{}(values.at[k], masked.at[k]);
    store(gradient + i, masked);
  }
};

/// A thread takes a column, so that neighbours read neighbours.
struct ColumnSumBody {
  DenseShape s;
  const float* gradient;
  float* sums;

  template <std::size_t>
  __device__ void at(std::size_t column) const {
    float sum = 0.0F;
    for (std::size_t row = 0; row < s.batch; ++row) sum += gradient[row * s.out + column];
    sums[column] = sum;
  }
};

}  // namespace

void activate(const Queue& queue, const DenseShape& s, const float* bias, float* y) {
  if (s.relu)
    launch<4>(queue, "activate", s.batch * s.out, ActivateBody<true>{s.out, bias, y}, y);
  else
    launch<4>(queue, "activate", s.batch * s.out, ActivateBody<false>{s.out, bias, y}, y);
}

void pass_dense_gradient(const Queue& queue, const DenseShape& s, const float* y, float* y_gradient,
                         float* bias_gradient) {
  if (s.relu) launch<4>(queue, "mask", s.batch * s.out, MaskBody{y, y_gradient}, y, y_gradient);
  launch_packs<1>(queue, "column_sums", s.out, ColumnSumBody{s, y_gradient, bias_gradient});
}

}  // namespace steelyard::kernels
