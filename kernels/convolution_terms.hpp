#pragma once

/// @file
/// Convolution and pooling as kernels/convolution.hpp defines them, one result at a time for a GPU's threads.
/// kernels/cpu goes over vectors and winners instead; the tests hold one against the other. Images are
/// [height, width, channels], weights [maps, channels, kernel, kernel], outputs and their gradients
/// [pooled, maps].

#include <cstddef>
#include <cstdint>

#include "kernels/convolution.hpp"
#include "kernels/host_device.hpp"

namespace steelyard::kernels {

struct ConvolutionTerms {
  struct Pooled {
    float value;
    std::uint8_t winner;
  };

  ConvolutionShape s;

  /// Output `at` of an image.
  STEELYARD_HOST_DEVICE Pooled output(const float* image, const float* weights, const float* bias,
                                      std::size_t at) const {
    const std::size_t map = at % s.maps;
    const std::size_t y = at / s.maps / (s.out_width() / 2) * 2;
    const std::size_t x = at / s.maps % (s.out_width() / 2) * 2;
    weights += map * s.channels * s.kernel * s.kernel;
    const float a = before_pooling(image, weights, y, x);
    const float b = before_pooling(image, weights, y, x + 1);
    const float c = before_pooling(image, weights, y + 1, x);
    const float d = before_pooling(image, weights, y + 1, x + 1);
    const float above = b > a ? b : a;
    const float below = d > c ? d : c;
    const float best = (below > above ? below : above) + bias[map];
    if (best <= 0.0F) return {0.0F, kNobody};  // False for a NaN, which travels on.
    const int place = below > above ? (d > c ? 3 : 2) : (b > a ? 1 : 0);
    return {best, static_cast<std::uint8_t>(place)};
  }

  /// What one pooled pixel of an image adds to the gradient of weight number `weight`.
  /// @param passed gradients of the outputs after pass_gradient.
  STEELYARD_HOST_DEVICE float weight_term(const float* image, const float* passed, const std::uint8_t* winner,
                                          std::size_t weight, std::size_t pixel) const {
    const std::size_t square = s.kernel * s.kernel;
    const std::size_t at = pixel * s.maps + weight / (s.channels * square);
    if (winner[at] == kNobody) return 0.0F;
    const std::size_t y = pixel / (s.out_width() / 2) * 2 + winner[at] / 2;
    const std::size_t x = pixel % (s.out_width() / 2) * 2 + winner[at] % 2;
    const std::size_t tap = weight % square;
    return passed[at] * padded(image, y + tap / s.kernel, x + tap % s.kernel, weight / square % s.channels);
  }

  /// The gradient of element `at` of an image.
  STEELYARD_HOST_DEVICE float image_gradient(const float* passed, const std::uint8_t* winner,
                                             const float* weights, std::size_t at) const {
    const std::size_t channel = at % s.channels;
    const std::size_t y = at / s.channels / s.width + s.padding;
    const std::size_t x = at / s.channels % s.width + s.padding;
    float sum = 0.0F;
    for (std::size_t ky = 0; ky < s.kernel && ky <= y; ++ky)
      for (std::size_t kx = 0; kx < s.kernel && kx <= x; ++kx)
        if (y - ky < s.out_height() && x - kx < s.out_width())
          sum += place_gradient(passed, winner, weights + (channel * s.kernel + ky) * s.kernel + kx, y - ky,
                                x - kx);
    return sum;
  }

 private:
  STEELYARD_HOST_DEVICE float padded(const float* image, std::size_t y, std::size_t x,
                                     std::size_t channel) const {
    // What lies left of or above the image wraps to large numbers.
    const std::size_t row = y - s.padding;
    const std::size_t column = x - s.padding;
    return row < s.height && column < s.width ? image[(row * s.width + column) * s.channels + channel] : 0.0F;
  }

  /// @param weights of one map.
  STEELYARD_HOST_DEVICE float before_pooling(const float* image, const float* weights, std::size_t y,
                                             std::size_t x) const {
    float sum = 0.0F;
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t ky = 0; ky < s.kernel; ++ky)
        for (std::size_t kx = 0; kx < s.kernel; ++kx)
          sum += *weights++ * padded(image, y + ky, x + kx, channel);
    return sum;
  }

  /// Over the maps that won at output (y, x) before pooling. @param weights of the first map's tap.
  STEELYARD_HOST_DEVICE float place_gradient(const float* passed, const std::uint8_t* winner,
                                             const float* weights, std::size_t y, std::size_t x) const {
    const std::size_t begin = (y / 2 * (s.out_width() / 2) + x / 2) * s.maps;
    const std::size_t place = y % 2 * 2 + x % 2;
    const std::size_t map_weights = s.channels * s.kernel * s.kernel;
    float sum = 0.0F;
    for (std::size_t map = 0; map < s.maps; ++map)
      if (winner[begin + map] == place) sum += passed[begin + map] * weights[map * map_weights];
    return sum;
  }
};

}  // namespace steelyard::kernels
