#include "kernels/convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/base/random.hpp"
#include "tests/support/instruction_sets.hpp"

namespace steelyard {
namespace {

using kernels::ConvolutionShape;
using kernels::kSlack;
using Values = std::vector<float>;

Values noise(std::size_t count, std::uint64_t stream) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_unit(5, stream, i);
  return values;
}

/// What the kernels do, one element at a time in double precision.
struct Reference {
  explicit Reference(const ConvolutionShape& shape)
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

/// The kernels on the same numbers.
struct Kernels {
  explicit Kernels(const Reference& r)
      : out(r.s.out_elements() + kSlack),
        winner(out.size()),
        weights_gradient(r.s.weights()),
        bias_gradient(r.s.maps),
        image_gradient(r.s.in_elements()) {
    const ConvolutionShape& s = r.s;
    Values frame(s.frame_elements()), packed(s.packed_elements()), rows(s.rows_elements());
    kernels::pad(s, r.image.data(), frame.data());
    kernels::pack_weights(s, r.weights.data(), packed.data());
    kernels::convolution_pool_forward(s, frame.data(), packed.data(), r.bias.data(), rows.data(), out.data(),
                                      winner.data());
    Values passed = r.gradient, sums(s.tap_rows_elements()), tap_rows(s.tap_rows_elements());
    passed.resize(passed.size() + kSlack);
    kernels::pass_gradient(s, winner.data(), passed.data());
    kernels::convolution_pool_backward_weights(s, frame.data(), passed.data(), winner.data(), sums.data(),
                                               bias_gradient.data());
    kernels::unpack_tap_rows(s, sums.data(), weights_gradient.data());
    kernels::pack_tap_rows(s, r.weights.data(), tap_rows.data());
    Values frame_gradient(s.frame_elements());
    std::vector<std::uint64_t> masks(4 * s.pooled());
    kernels::convolution_pool_backward_data(s, passed.data(), winner.data(), tap_rows.data(), masks.data(),
                                            frame_gradient.data());
    kernels::crop(s, frame_gradient.data(), image_gradient.data());
  }

  Values out;
  std::vector<std::uint8_t> winner;
  Values weights_gradient, bias_gradient, image_gradient;
};

class Shapes : public testing::TestWithParam<ConvolutionShape> {};
// Channels, height, width, maps, kernel, padding: LeNet's two, those of video_tagger, and what falls between
// the vectors.
INSTANTIATE_TEST_SUITE_P(
    Convolution, Shapes,
    testing::Values(ConvolutionShape{1, 28, 28, 6, 5, 2}, ConvolutionShape{6, 14, 14, 16, 5, 0},
                    ConvolutionShape{8, 64, 64, 6, 5, 2}, ConvolutionShape{6, 32, 32, 16, 5, 0},
                    ConvolutionShape{3, 9, 7, 19, 4, 0}, ConvolutionShape{2, 8, 14, 70, 3, 1},
                    ConvolutionShape{5, 6, 4, 1, 1, 0}, ConvolutionShape{1, 4, 4, 33, 3, 1},
                    ConvolutionShape{7, 7, 9, 3, 2, 0}));

// Sums of up to a few hundred products of numbers below 1 in single precision.
constexpr double kTolerance = 2e-4;

void check_forward(const Reference& r) {
  const Kernels run(r);
  r.each_output([&](std::size_t at, std::size_t map, std::size_t y, std::size_t x) {
    const auto [place, value] = r.best(map, y, x);
    ASSERT_NEAR(run.out[at], std::max(value, 0.0), kTolerance) << "output " << at;
    if (std::abs(value) > kTolerance) {
      // Of near equals either may win.
      const std::size_t who = run.winner[at];
      ASSERT_EQ(who == 4, value < 0) << "output " << at;
      if (who != 4) {
        ASSERT_NEAR(r.before_pooling(map, 2 * y + who / 2, 2 * x + who % 2), value, kTolerance) << place;
      }
    }
  });
}

TEST_P(Shapes, ForwardIsTheGreatestOfFourAfterBiasAndReLU) {
  const Reference r(GetParam());
  test::with_every_instruction_set([&] { check_forward(r); });
}

void check_backward(const Reference& r) {
  const Kernels run(r);
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
    ASSERT_NEAR(run.weights_gradient[i], weights[i], kTolerance) << i;
  for (std::size_t i = 0; i < bias.size(); ++i) ASSERT_NEAR(run.bias_gradient[i], bias[i], kTolerance) << i;
  for (std::size_t y = 0; y < r.s.height; ++y)
    for (std::size_t i = 0; i < r.s.width * r.s.channels; ++i)
      ASSERT_NEAR(run.image_gradient[y * r.s.width * r.s.channels + i],
                  frame[(y + r.s.padding) * r.s.frame_row() + r.s.padding * r.s.channels + i], kTolerance);
}

TEST_P(Shapes, BackwardSendsEachGradientToItsWinner) {
  const Reference r(GetParam());
  test::with_every_instruction_set([&] { check_backward(r); });
}

TEST(Convolution, ANotANumberTravelsOn) {
  Reference r({1, 28, 28, 6, 5, 2});
  r.image[400] = std::nanf("");
  test::with_every_instruction_set([&] {
    const Kernels run(r);
    EXPECT_TRUE(std::any_of(run.out.begin(), run.out.end(), [](float value) { return std::isnan(value); }));
  });
}

}  // namespace
}  // namespace steelyard
