#pragma once

/// @file
/// Bias, ReLU and 2x2 max-pooling of one image in one pass. Height and width are even.

#include <cstddef>
#include <cstdint>

namespace steelyard::kernels {

struct PoolShape {
  std::size_t maps = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t stride = 0;  ///< From one row before pooling to the next; a multiple of kRowElements.

  constexpr std::size_t out_elements() const { return maps * (height / 2) * (width / 2); }
};

/// out[maps, height/2, width/2] = max(0, bias + max of each 2x2 of in[maps, height, width]), rows of `in`
/// `stride` apart. @param[out] winner as `out`: which of the four won (0..3), 4 where ReLU gave 0.
void bias_relu_pool(const PoolShape& shape, const float* in, const float* bias, float* out,
                    std::uint8_t* winner);

/// in_gradient[maps, height, width], rows `stride` apart: each gradient goes to its winner, the rest is 0;
/// columns beyond the width are set to 0. bias_gradient[maps] += the gradients that passed.
void bias_relu_pool_backward(const PoolShape& shape, const float* out_gradient, const std::uint8_t* winner,
                             float* in_gradient, float* bias_gradient);

}  // namespace steelyard::kernels
