#pragma once

/// @file
/// Two-dimensional convolution of one image, stride 1, direct: rows of the output are vectors, weights are
/// broadcast. Made for few channels and small kernels, where unfolding into a matrix product moves more than
/// it computes. Weights are [maps, channels, kernel, kernel].

#include <cstddef>

namespace steelyard::kernels {

/// Rows of outputs are padded to whole vectors of this many floats; inputs need as much room behind their
/// end, since vectors may read past a row (what they find there is not used).
inline constexpr std::size_t kRowElements = 16;

struct ConvolutionShape {
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t maps = 0;
  std::size_t kernel = 0;
  std::size_t padding = 0;  ///< Zeros on every side.

  constexpr std::size_t out_height() const { return height + 2 * padding - kernel + 1; }
  constexpr std::size_t out_width() const { return width + 2 * padding - kernel + 1; }
  /// Elements from one row of an output to the next.
  constexpr std::size_t out_stride() const {
    return (out_width() + kRowElements - 1) / kRowElements * kRowElements;
  }
  constexpr std::size_t in_elements() const { return channels * height * width; }
  constexpr std::size_t weights() const { return maps * channels * kernel * kernel; }

  /// Room for a padded input, and for an output with its padded rows.
  constexpr std::size_t padded_elements() const {
    return channels * (height + 2 * padding) * (width + 2 * padding) + 2 * kRowElements;
  }
  constexpr std::size_t out_elements() const { return maps * out_height() * out_stride(); }

  /// The convolution that carries a gradient back: maps and channels change places.
  constexpr ConvolutionShape backward() const {
    return {maps, out_height(), out_width(), channels, kernel, kernel - 1 - padding};
  }
};

/// padded[channels, height + 2 padding, width + 2 padding] = image[channels, height, width (rows `stride`
/// apart)] in a frame. The frame must be zero before the first call; it is not written.
void pad(const ConvolutionShape& shape, const float* image, std::size_t stride, float* padded);

/// out[maps, out_height, out_stride] = weights * padded. Columns from out_width on are left with no meaning.
void convolution_forward(const ConvolutionShape& shape, const float* padded, const float* weights,
                         float* out);

/// Weights of shape.backward(): mirrored, maps and channels exchanged.
void mirror_weights(const ConvolutionShape& shape, const float* weights, float* mirrored);

/// Adds out_gradient * padded, not yet summed over a vector's elements, so that the images of a batch share
/// the final sum. @param out_gradient [maps, out_height, out_stride], zero from out_width on.
/// @param sums [weights(), kRowElements].
void convolution_backward_weights(const ConvolutionShape& shape, const float* padded,
                                  const float* out_gradient, float* sums);
/// weights_gradient[weights()] = sums over each row of kRowElements.
void finish_weights(const ConvolutionShape& shape, const float* sums, float* weights_gradient);

}  // namespace steelyard::kernels
