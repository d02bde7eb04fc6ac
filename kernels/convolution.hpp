#pragma once

/// @file
/// Two-dimensional convolution of one image, stride 1, by unfolding patches into columns and one matrix
/// product. Images are [channels, height, width], weights [maps, channels, kernel, kernel].

#include <cstddef>

namespace steelyard::kernels {

struct ConvolutionShape {
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t maps = 0;
  std::size_t kernel = 0;
  std::size_t padding = 0;  ///< Zeros on every side.

  constexpr std::size_t out_height() const { return height + 2 * padding - kernel + 1; }
  constexpr std::size_t out_width() const { return width + 2 * padding - kernel + 1; }
  constexpr std::size_t pixels() const { return out_height() * out_width(); }
  constexpr std::size_t patch() const { return channels * kernel * kernel; }
  constexpr std::size_t in_elements() const { return channels * height * width; }
  constexpr std::size_t out_elements() const { return maps * pixels(); }
};

/// columns[patch, pixels]: what each output pixel sees of `image`.
void unfold(const ConvolutionShape& shape, const float* image, float* columns);

/// out[maps, pixels] = weights columns.
void convolution_forward(const ConvolutionShape& shape, const float* columns, const float* weights,
                         float* out);

/// weights_gradient += out_gradient[maps, pixels] columns^T.
void convolution_backward_weights(const ConvolutionShape& shape, const float* columns,
                                  const float* out_gradient, float* weights_gradient);

/// image_gradient = the transpose of unfold applied to weights^T out_gradient.
/// @param columns scratch [patch, pixels].
void convolution_backward_data(const ConvolutionShape& shape, const float* weights, const float* out_gradient,
                               float* columns, float* image_gradient);

}  // namespace steelyard::kernels
