#pragma once

/// @file
/// Convolution, bias, ReLU and 2x2 max-pooling of one image, stride 1, direct: made for few channels and
/// small kernels, where unfolding into a matrix product moves more than it computes.
///
/// Images lie channel by channel within a pixel: [height, width, channels]; so do pooled outputs, with maps
/// for channels. Maps, and backward the taps of a kernel row, are the lanes of a vector. Max-pooling lets one
/// gradient in four through, and ReLU about half of these, so the backward passes go over the winners alone.
/// Weights are [maps, channels, kernel, kernel], as the parameters have them; they are repacked once per
/// batch.

#include <cstddef>
#include <cstdint>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

/// Elements behind the end of frames, packed weights, sums, outputs and gradients that vectors may touch.
inline constexpr std::size_t kSlack = 64;
/// The winner where ReLU gave 0.
inline constexpr std::uint8_t kNobody = 4;

struct ConvolutionShape;
// They depend on the instruction set in use; see the members of the same names.
std::size_t packed_elements(const ConvolutionShape& shape);
std::size_t rows_elements(const ConvolutionShape& shape);
std::size_t tap_row(const ConvolutionShape& shape);

struct ConvolutionShape {
  std::size_t channels = 0;
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t maps = 0;
  std::size_t kernel = 0;
  std::size_t padding = 0;  ///< Zeros on every side.

  constexpr std::size_t out_height() const { return height + 2 * padding - kernel + 1; }  ///< Even.
  constexpr std::size_t out_width() const { return width + 2 * padding - kernel + 1; }    ///< Even.
  constexpr std::size_t in_elements() const { return channels * height * width; }
  constexpr std::size_t weights() const { return maps * channels * kernel * kernel; }
  constexpr std::size_t pooled() const { return out_height() / 2 * (out_width() / 2); }  ///< Pixels.
  constexpr std::size_t out_elements() const { return maps * pooled(); }

  /// Of the frame that holds a padded image: elements of a row, of everything.
  constexpr std::size_t frame_row() const { return (width + 2 * padding) * channels; }
  constexpr std::size_t frame_elements() const { return frame_row() * (height + 2 * padding) + kSlack; }
  /// Taps of a kernel row over all channels; they lie behind each other in an image.
  constexpr std::size_t taps() const { return kernel * channels; }

  /// Room for weights packed for the forward pass, and for weights and sums in rows of taps.
  std::size_t packed_elements() const { return kernels::packed_elements(*this); }
  /// Elements from one row of taps to the next.
  std::size_t tap_row() const { return kernels::tap_row(*this); }
  std::size_t tap_rows_elements() const { return maps * kernel * tap_row() + kSlack; }
  /// Room for two rows of outputs before pooling.
  std::size_t rows_elements() const { return kernels::rows_elements(*this); }
};

/// frame = image[height, width, channels] with zeros around it. The border must be zero before the first
/// call.
void pad(const ConvolutionShape& shape, const float* image, float* frame);
/// The reverse, for gradients: image = inside of the frame.
void crop(const ConvolutionShape& shape, const float* frame, float* image);

void pack_weights(const ConvolutionShape& shape, const float* weights, float* packed);
/// rows[maps, kernel, tap_row]: of each map and kernel row the taps in the order of an image row.
void pack_tap_rows(const ConvolutionShape& shape, const float* weights, float* rows);

/// out[out_height/2, out_width/2, maps] = max(0, bias + max of 2x2 of weights * frame).
/// @param rows scratch of rows_elements(). @param[out] winner as `out`: which of the four won (0 to 3, row by
/// row), kNobody where ReLU gave 0. A NaN travels on. Up to kSlack elements behind both are overwritten.
void convolution_pool_forward(const ConvolutionShape& shape, const float* frame, const float* packed,
                              const float* bias, float* rows, float* out, std::uint8_t* winner);

/// One element of pass_gradient, the same for CPU and GPU.
struct Passed {
  STEELYARD_HOST_DEVICE float operator()(std::uint8_t winner, float gradient) const {
    return winner == kNobody ? 0.0F : gradient;
  }
};
/// Sets the gradients of outputs to 0 where ReLU gave 0. What is left has passed.
void pass_gradient(const ConvolutionShape& shape, const std::uint8_t* winner, float* gradient);

/// sums[maps, kernel, tap_row] += gradients of the weights; bias_gradient[maps] += those of the bias.
/// @param passed gradients of the outputs after pass_gradient, readable up to kSlack beyond their end.
void convolution_pool_backward_weights(const ConvolutionShape& shape, const float* frame, const float* passed,
                                       const std::uint8_t* winner, float* sums, float* bias_gradient);
/// weights_gradient[weights()] from the sums over a batch.
void unpack_tap_rows(const ConvolutionShape& shape, const float* sums, float* weights_gradient);

/// frame_gradient = gradient of the padded image. @param tap_rows weights by pack_tap_rows.
/// @param masks scratch of 4 pooled().
void convolution_pool_backward_data(const ConvolutionShape& shape, const float* passed,
                                    const std::uint8_t* winner, const float* tap_rows, std::uint64_t* masks,
                                    float* frame_gradient);

}  // namespace steelyard::kernels
