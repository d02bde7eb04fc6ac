#pragma once

/// @file
/// Of whole batches, and without frames and packed weights.

#include "kernels/convolution.hpp"
#include "kernels/cuda/queue.hpp"

namespace steelyard::kernels {

/// @param images [batch, height, width, channels] @param[out] out, winner [batch, pooled, maps]
void convolution_pool_forward(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                              const float* images, const float* weights, const float* bias, float* out,
                              std::uint8_t* winner);

/// @param gradient [batch, pooled, maps]
void pass_gradient(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                   const std::uint8_t* winner, float* gradient);

/// Overwrites both gradients. The order of the sums is always the same.
void convolution_pool_backward_weights(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                                       const float* images, const float* passed, const std::uint8_t* winner,
                                       float* weights_gradient, float* bias_gradient);

/// @param[out] images_gradient [batch, height, width, channels]
void convolution_pool_backward_data(const Queue& queue, const ConvolutionShape& shape, std::size_t batch,
                                    const float* passed, const std::uint8_t* winner, const float* weights,
                                    float* images_gradient);

}  // namespace steelyard::kernels
