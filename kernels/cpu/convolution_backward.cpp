#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "kernels/convolution.hpp"
#include "kernels/cpu/lanes.hpp"

namespace steelyard::kernels {
namespace {

std::size_t vectors(const ConvolutionShape& s) {
  const std::size_t lanes = lanes_for(s.taps());
  return (s.taps() + lanes - 1) / lanes;
}

/// Where the patch of an output pixel begins in a frame, relative to that of the upper left of its four.
std::array<std::size_t, 5> patches(const ConvolutionShape& s) {
  return {0, s.channels, s.frame_row(), s.frame_row() + s.channels, 0};
}

/// Where the patch of a pooled pixel's upper left output begins.
std::size_t patch(const ConvolutionShape& s, std::size_t pixel) {
  const std::size_t wide = s.out_width() / 2;
  return pixel / wide * 2 * s.frame_row() + pixel % wide * 2 * s.channels;
}

/// `kRows` kernel rows by `kVectors` vectors of taps of one map: in registers while the pixels go by.
template <std::size_t kLanes, std::size_t kRows, std::size_t kVectors>
[[gnu::noinline]] void weight_block(const ConvolutionShape& s, const float* frame, const float* gradient,
                                    const std::uint8_t* winner, float* sums) {
  using V = Lanes<kLanes>;
  const auto to = patches(s);
  const std::size_t row = s.frame_row();
  const std::size_t tap_row = s.tap_row();
  const std::size_t wide = s.out_width() / 2;
  typename V::Floats sum[kRows][kVectors];
  for (std::size_t y = 0; y < kRows; ++y)
    for (std::size_t v = 0; v < kVectors; ++v) sum[y][v] = V::load(sums + y * tap_row + v * kLanes);
  for (std::size_t y = 0; y < s.out_height() / 2; ++y) {
    const float* begin = frame + 2 * y * row;
    for (std::size_t x = 0; x < wide; ++x, begin += 2 * s.channels, gradient += s.maps, winner += s.maps) {
      const float passed = *gradient;
      const float* from = begin + to[*winner];
#pragma GCC unroll 5
      for (std::size_t ky = 0; ky < kRows; ++ky)
#pragma GCC unroll 2
        for (std::size_t v = 0; v < kVectors; ++v)
          sum[ky][v] += passed * V::load(from + ky * row + v * kLanes);
    }
  }
  for (std::size_t y = 0; y < kRows; ++y)
    for (std::size_t v = 0; v < kVectors; ++v) V::store(sums + y * tap_row + v * kLanes, sum[y][v]);
}

/// Adds the sum of each map's gradients. The last lanes of a vector may belong to the next pixel; they are
/// left.
template <std::size_t kLanes>
void add_bias_gradient(const ConvolutionShape& s, const float* passed, float* bias_gradient) {
  using V = Lanes<kLanes>;
  for (std::size_t first = 0; first < s.maps; first += kLanes) {
    typename V::Floats sum = {};
    for (std::size_t pixel = 0; pixel < s.pooled(); ++pixel) sum += V::load(passed + pixel * s.maps + first);
    for (std::size_t lane = 0; lane < kLanes && first + lane < s.maps; ++lane)
      bias_gradient[first + lane] += sum[lane];
  }
}

/// The gradient of one patch, added to the frame: the weights of the maps in `mask`, each times its gradient.
template <std::size_t kLanes, std::size_t kRows, std::size_t kVectors>
[[gnu::noinline]] void data_block(const ConvolutionShape& s, const float* tap_rows, const float* gradient,
                                  std::uint64_t mask, float* frame) {
  using V = Lanes<kLanes>;
  const std::size_t tap_row = s.tap_row();
  const std::size_t map_elements = s.kernel * tap_row;
  typename V::Floats sum[kRows][kVectors] = {};
  for (; mask != 0; mask &= mask - 1) {
    const auto map = static_cast<std::size_t>(std::countr_zero(mask));
    const float* weights = tap_rows + map * map_elements;
    const float passed = gradient[map];
#pragma GCC unroll 5
    for (std::size_t ky = 0; ky < kRows; ++ky)
#pragma GCC unroll 2
      for (std::size_t v = 0; v < kVectors; ++v)
        sum[ky][v] += passed * V::load(weights + ky * tap_row + v * kLanes);
  }
  for (std::size_t ky = 0; ky < kRows; ++ky)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* to = frame + ky * s.frame_row() + v * kLanes;
      V::store(to, V::load(to) + sum[ky][v]);
    }
}

/// Calls visit.template operator()<rows, vectors>(first row, first vector) until all are covered.
template <typename Visit>
void over_blocks(const ConvolutionShape& s, Visit&& visit) {
  const std::size_t all = vectors(s);
  std::size_t v = 0;
  const auto over_rows = [&]<std::size_t kVectors>() {
    if (s.kernel == 5) return visit.template operator()<5, kVectors>(0, v);
    if (s.kernel == 3) return visit.template operator()<3, kVectors>(0, v);
    for (std::size_t ky = 0; ky < s.kernel; ++ky) visit.template operator()<1, kVectors>(ky, v);
  };
  for (; v + 2 <= all; v += 2) over_rows.template operator()<2>();
  if (v < all) over_rows.template operator()<1>();
}

/// masks[place, pixel] of `count` maps from `winner` on: which of them won at that place.
void find_winners(const ConvolutionShape& s, const std::uint8_t* winner, std::size_t count,
                  std::uint64_t* masks) {
  for (std::size_t pixel = 0; pixel < s.pooled(); ++pixel, winner += s.maps) {
    std::uint64_t won[kNobody + 1] = {};
    for (std::size_t map = 0; map < count; ++map) won[winner[map]] |= std::uint64_t{1} << map;
    for (std::size_t place = 0; place < kNobody; ++place) masks[place * s.pooled() + pixel] = won[place];
  }
}

/// Pixels are visited so many apart that their patches do not overlap: a patch that is read just after
/// another has been written across it would wait for the write to leave the core.
std::size_t pixel_step(const ConvolutionShape& s) {
  std::size_t step = (s.kernel + 1) / 2 * (s.out_width() / 2) + 1;
  while (std::gcd(step, s.pooled()) != 1) ++step;
  return step;
}

template <typename Visit>
void each_tap(const ConvolutionShape& s, Visit&& visit) {
  const std::size_t tap_row = s.tap_row();
  std::size_t weight = 0;
  for (std::size_t map = 0; map < s.maps; ++map)
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t ky = 0; ky < s.kernel; ++ky)
        for (std::size_t kx = 0; kx < s.kernel; ++kx)
          visit(weight++, (map * s.kernel + ky) * tap_row + kx * s.channels + channel);
}

}  // namespace

std::size_t tap_row(const ConvolutionShape& s) { return vectors(s) * lanes_for(s.taps()); }

void pack_tap_rows(const ConvolutionShape& s, const float* weights, float* rows) {
  std::fill_n(rows, s.tap_rows_elements(), 0.0F);
  each_tap(s, [&](std::size_t weight, std::size_t tap) { rows[tap] = weights[weight]; });
}

void unpack_tap_rows(const ConvolutionShape& s, const float* sums, float* weights_gradient) {
  each_tap(s, [&](std::size_t weight, std::size_t tap) { weights_gradient[weight] = sums[tap]; });
}

void pass_gradient(const ConvolutionShape& s, const std::uint8_t* winner, float* gradient) {
  for (std::size_t i = 0; i < s.out_elements(); ++i) gradient[i] = Passed{}(winner[i], gradient[i]);
}

void convolution_pool_backward_weights(const ConvolutionShape& s, const float* frame, const float* passed,
                                       const std::uint8_t* winner, float* sums, float* bias_gradient) {
  with_lanes_for(s.maps, [&]<std::size_t kLanes>() { add_bias_gradient<kLanes>(s, passed, bias_gradient); });
  with_lanes_for(s.taps(), [&]<std::size_t kLanes>() {
    over_blocks(s, [&]<std::size_t kRows, std::size_t kVectors>(std::size_t ky, std::size_t v) {
      for (std::size_t map = 0; map < s.maps; ++map)
        weight_block<kLanes, kRows, kVectors>(s, frame + ky * s.frame_row() + v * kLanes, passed + map,
                                              winner + map,
                                              sums + (map * s.kernel + ky) * s.tap_row() + v * kLanes);
    });
  });
}

void convolution_pool_backward_data(const ConvolutionShape& s, const float* passed,
                                    const std::uint8_t* winner, const float* tap_rows, std::uint64_t* masks,
                                    float* frame_gradient) {
  constexpr std::size_t kMasked = 64;
  std::fill_n(frame_gradient, s.frame_elements(), 0.0F);
  const auto to = patches(s);
  const std::size_t step = pixel_step(s);
  const std::size_t tap_row = s.tap_row();
  for (std::size_t first = 0; first < s.maps; first += kMasked) {
    find_winners(s, winner + first, std::min(kMasked, s.maps - first), masks);
    const float* rows = tap_rows + first * s.kernel * tap_row;
    with_lanes_for(s.taps(), [&]<std::size_t kLanes>() {
      for (std::size_t i = 0, pixel = 0; i < kNobody * s.pooled(); ++i, pixel = (pixel + step) % s.pooled()) {
        const std::size_t place = i / s.pooled();
        const std::uint64_t mask = masks[place * s.pooled() + pixel];
        if (mask == 0) continue;
        float* begin = frame_gradient + patch(s, pixel) + to[place];
        over_blocks(s, [&]<std::size_t kRows, std::size_t kVectors>(std::size_t ky, std::size_t v) {
          data_block<kLanes, kRows, kVectors>(s, rows + ky * tap_row + v * kLanes,
                                              passed + pixel * s.maps + first, mask,
                                              begin + ky * s.frame_row() + v * kLanes);
        });
      }
    });
  }
}

}  // namespace steelyard::kernels
