#pragma once

/// @file
/// Convolution and pooling in double precision, one element at a time, and the checks against it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/convolution.hpp"
#include "src/base/random.hpp"

namespace steelyard::test {

using kernels::ConvolutionShape;
using Values = std::vector<float>;

inline Values noise(std::size_t count, std::uint64_t stream) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_unit(5, stream, i);
  return values;
}

/// LeNet's two, those of video_tagger, and what falls between the vectors: channels, height, width, maps,
/// kernel, padding.
inline const ConvolutionShape kConvolutionShapes[] = {
    {1, 28, 28, 6, 5, 2},  {6, 14, 14, 16, 5, 0}, {8, 64, 64, 6, 5, 2},
    {6, 32, 32, 16, 5, 0}, {3, 9, 7, 19, 4, 0},   {2, 8, 14, 70, 3, 1},
    {5, 6, 4, 1, 1, 0},    {1, 4, 4, 33, 3, 1},   {7, 7, 9, 3, 2, 0}};

/// What the kernels do, one element at a time in double precision.
struct ConvolutionReference {
  explicit ConvolutionReference(const ConvolutionShape& shape)
      : s(shape),
        image(noise(s.in_elements(), 1)),
        weights(noise(s.weights(), 2)),
        bias(noise(s.maps, 3)),
        gradient(noise(s.out_elements(), 4)) {}

  double pixel(std::size_t y, std::size_t x, std::size_t channel) const {
    if (y < s.padding || x < s.padding || y >= s.height + s.padding || x >= s.width + s.padding) return 0.0;
    return image[((y - s.padding) * s.width + x - s.padding) * s.channels + channel];
  }
  std::size_t weight(std::size_t map, std::size_t channel, std::size_t ky, std::size_t kx) const {
    return ((map * s.channels + channel) * s.kernel + ky) * s.kernel + kx;
  }
  template <typename Visit>
  void each_tap(Visit&& visit) const {
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t ky = 0; ky < s.kernel; ++ky)
        for (std::size_t kx = 0; kx < s.kernel; ++kx) visit(channel, ky, kx);
  }
  double before_pooling(std::size_t map, std::size_t y, std::size_t x) const {
    double sum = bias[map];
    each_tap([&](std::size_t channel, std::size_t ky, std::size_t kx) {
      sum += weights[weight(map, channel, ky, kx)] * pixel(y + ky, x + kx, channel);
    });
    return sum;
  }
  /// Which of the four outputs below a pooled pixel is the greatest, and its value.
  std::pair<std::size_t, double> best(std::size_t map, std::size_t y, std::size_t x) const {
    std::pair<std::size_t, double> found{0, before_pooling(map, 2 * y, 2 * x)};
    for (std::size_t place = 1; place < 4; ++place)
      if (const double one = before_pooling(map, 2 * y + place / 2, 2 * x + place % 2); one > found.second)
        found = {place, one};
    return found;
  }
  template <typename Visit>
  void each_output(Visit&& visit) const {
    for (std::size_t y = 0; y < s.out_height() / 2; ++y)
      for (std::size_t x = 0; x < s.out_width() / 2; ++x)
        for (std::size_t map = 0; map < s.maps; ++map)
          visit((y * (s.out_width() / 2) + x) * s.maps + map, map, y, x);
  }

  ConvolutionShape s;
  Values image, weights, bias, gradient;
};

/// What somebody made of the numbers of a reference. Elements behind those of the shape are not looked at.
struct ConvolutionResults {
  explicit ConvolutionResults(const ConvolutionShape& s)
      : out(s.out_elements() + kernels::kSlack),
        winner(out.size()),
        weights_gradient(s.weights()),
        bias_gradient(s.maps),
        image_gradient(s.in_elements()) {}

  Values out;
  std::vector<std::uint8_t> winner;
  Values weights_gradient, bias_gradient, image_gradient;
};

/// Sums of up to a few hundred products of numbers below 1 in single precision.
inline constexpr double kConvolutionTolerance = 2e-4;

inline void check_forward(const ConvolutionReference& r, const ConvolutionResults& run) {
  r.each_output([&](std::size_t at, std::size_t map, std::size_t y, std::size_t x) {
    const auto [place, value] = r.best(map, y, x);
    ASSERT_NEAR(run.out[at], std::max(value, 0.0), kConvolutionTolerance) << "output " << at;
    if (std::abs(value) > kConvolutionTolerance) {
      // Of near equals either may win.
      const std::size_t who = run.winner[at];
      ASSERT_EQ(who == 4, value < 0) << "output " << at;
      if (who != 4) {
        ASSERT_NEAR(r.before_pooling(map, 2 * y + who / 2, 2 * x + who % 2), value, kConvolutionTolerance)
            << place;
      }
    }
  });
}

inline void check_backward(const ConvolutionReference& r, const ConvolutionResults& run) {
  std::vector<double> weights(r.s.weights()), bias(r.s.maps), frame(r.s.frame_elements());
  r.each_output([&](std::size_t at, std::size_t map, std::size_t y, std::size_t x) {
    const std::size_t who = run.winner[at];
    if (who == 4) return;
    const double passed = r.gradient[at];
    bias[map] += passed;
    r.each_tap([&](std::size_t channel, std::size_t ky, std::size_t kx) {
      const std::size_t py = 2 * y + who / 2 + ky;
      const std::size_t px = 2 * x + who % 2 + kx;
      weights[r.weight(map, channel, ky, kx)] += passed * r.pixel(py, px, channel);
      frame[py * r.s.frame_row() + px * r.s.channels + channel] +=
          passed * r.weights[r.weight(map, channel, ky, kx)];
    });
  });
  for (std::size_t i = 0; i < weights.size(); ++i)
    ASSERT_NEAR(run.weights_gradient[i], weights[i], kConvolutionTolerance) << i;
  for (std::size_t i = 0; i < bias.size(); ++i)
    ASSERT_NEAR(run.bias_gradient[i], bias[i], kConvolutionTolerance) << i;
  for (std::size_t y = 0; y < r.s.height; ++y)
    for (std::size_t i = 0; i < r.s.width * r.s.channels; ++i)
      ASSERT_NEAR(run.image_gradient[y * r.s.width * r.s.channels + i],
                  frame[(y + r.s.padding) * r.s.frame_row() + r.s.padding * r.s.channels + i],
                  kConvolutionTolerance);
}

}  // namespace steelyard::test
