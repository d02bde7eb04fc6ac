#include <algorithm>
#include <cstring>

#include "kernels/convolution.hpp"
#include "kernels/cpu/lanes.hpp"

namespace steelyard::kernels {
namespace {

/// Groups of maps that fill a vector.
std::size_t groups(const ConvolutionShape& s) {
  const std::size_t lanes = lanes_for(s.maps);
  return (s.maps + lanes - 1) / lanes;
}

/// Two rows of `kWide` neighbouring outputs for one vector of maps, all in registers while the taps go by: a
/// vector of weights serves 2 kWide multiply-adds. @param kChannels of the image; 0: s.channels.
template <std::size_t kLanes, std::size_t kWide, std::size_t kChannels>
void block(const ConvolutionShape& s, const float* frame, const float* packed, float* upper, float* lower,
           std::size_t out_pixel) {
  using V = Lanes<kLanes>;
  const std::size_t channels = kChannels > 0 ? kChannels : s.channels;
  const std::size_t row = s.frame_row();
  typename V::Floats above[kWide] = {};
  typename V::Floats below[kWide] = {};
  for (std::size_t ky = 0; ky < s.kernel; ++ky, frame += row)
    for (std::size_t tap = 0; tap < s.taps(); ++tap, packed += kLanes) {
      const auto weight = V::load(packed);
      const float* first = frame + tap;
      const float* second = first + row;
#pragma GCC unroll 8
      for (std::size_t x = 0; x < kWide; ++x) {
        above[x] += first[x * channels] * weight;
        below[x] += second[x * channels] * weight;
      }
    }
  for (std::size_t x = 0; x < kWide; ++x) {
    V::store(upper + x * out_pixel, above[x]);
    V::store(lower + x * out_pixel, below[x]);
  }
}

/// Two whole rows of outputs for one vector of maps.
template <std::size_t kLanes, std::size_t kChannels>
void two_rows(const ConvolutionShape& s, const float* frame, const float* packed, float* rows) {
  const std::size_t out_pixel = groups(s) * kLanes;
  float* const lower = rows + s.out_width() * out_pixel;
  std::size_t x = 0;
  const auto take = [&](auto run, std::size_t wide) {
    for (; x + wide <= s.out_width(); x += wide)
      run(s, frame + x * s.channels, packed, rows + x * out_pixel, lower + x * out_pixel, out_pixel);
  };
  if (s.out_width() % 7 == 0) take(block<kLanes, 7, kChannels>, 7);
  take(block<kLanes, 5, kChannels>, 5);
  take(block<kLanes, 1, kChannels>, 1);
}

/// One row of pooled outputs of one vector of maps, from two rows before pooling. Selections instead of
/// branches: which of four neighbours is the greatest cannot be predicted.
template <std::size_t kLanes>
void pool_row(const ConvolutionShape& s, const float* rows, std::size_t group, const float* bias, float* out,
              std::uint8_t* winner) {
  using V = Lanes<kLanes>;
  const std::size_t out_pixel = groups(s) * kLanes;
  const std::size_t count = std::min(kLanes, s.maps - group * kLanes);
  // Lanes without a map may spill into the next pixel, which is written later; but not into another group.
  const bool whole = count == kLanes || groups(s) == 1;
  float padded_bias[kLanes] = {};
  std::copy_n(bias + group * kLanes, count, padded_bias);
  const auto shift = V::load(padded_bias);
  const float* upper = rows + group * kLanes;
  const float* lower = upper + s.out_width() * out_pixel;
  for (std::size_t x = 0; x < s.out_width() / 2; ++x, upper += 2 * out_pixel, lower += 2 * out_pixel) {
    const auto a = V::load(upper);
    const auto b = V::load(upper + out_pixel);
    const auto c = V::load(lower);
    const auto d = V::load(lower + out_pixel);
    const typename V::Integers zero = {};
    const auto above = b > a ? b : a;
    const auto below = d > c ? d : c;
    const typename V::Integers who_above = b > a ? zero + 1 : zero;
    const typename V::Integers who_below = d > c ? zero + 3 : zero + 2;
    const auto best = (below > above ? below : above) + shift;
    const typename V::Integers who = below > above ? who_below : who_above;
    // `best <= 0` is false for a NaN, which must travel on, or a diverged run would look healthy.
    const typename V::Floats none = {};
    const typename V::Floats shown = best <= 0.0F ? none : best;
    const typename V::Integers won = best <= 0.0F ? zero + 4 : who;
    const auto bytes = __builtin_convertvector(won, typename V::Bytes);
    std::memcpy(out + x * s.maps + group * kLanes, &shown, whole ? sizeof shown : count * sizeof(float));
    std::memcpy(winner + x * s.maps + group * kLanes, &bytes, whole ? sizeof bytes : count);
  }
}

template <std::size_t kLanes, std::size_t kChannels>
void forward(const ConvolutionShape& s, const float* frame, const float* packed, const float* bias,
             float* rows, float* out, std::uint8_t* winner) {
  const std::size_t group_elements = s.kernel * s.taps() * kLanes;
  for (std::size_t y = 0; y < s.out_height(); y += 2) {
    for (std::size_t group = 0; group < groups(s); ++group)
      two_rows<kLanes, kChannels>(s, frame + y * s.frame_row(), packed + group * group_elements,
                                  rows + group * kLanes);
    const std::size_t begin = y / 2 * (s.out_width() / 2) * s.maps;
    for (std::size_t group = 0; group < groups(s); ++group)
      pool_row<kLanes>(s, rows, group, bias, out + begin, winner + begin);
  }
}

}  // namespace

std::size_t packed_elements(const ConvolutionShape& s) {
  return groups(s) * lanes_for(s.maps) * s.kernel * s.taps() + kSlack;
}

std::size_t rows_elements(const ConvolutionShape& s) {
  return 2 * s.out_width() * groups(s) * lanes_for(s.maps) + kSlack;
}

void pad(const ConvolutionShape& s, const float* image, float* frame) {
  const std::size_t row = s.width * s.channels;
  for (std::size_t y = 0; y < s.height; ++y)
    std::copy_n(image + y * row, row, frame + (y + s.padding) * s.frame_row() + s.padding * s.channels);
}

void crop(const ConvolutionShape& s, const float* frame, float* image) {
  const std::size_t row = s.width * s.channels;
  for (std::size_t y = 0; y < s.height; ++y)
    std::copy_n(frame + (y + s.padding) * s.frame_row() + s.padding * s.channels, row, image + y * row);
}

void pack_weights(const ConvolutionShape& s, const float* weights, float* packed) {
  const std::size_t lanes = lanes_for(s.maps);
  std::fill_n(packed, s.packed_elements(), 0.0F);
  for (std::size_t map = 0; map < s.maps; ++map)
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t ky = 0; ky < s.kernel; ++ky)
        for (std::size_t kx = 0; kx < s.kernel; ++kx) {
          const std::size_t tap = (map / lanes * s.kernel + ky) * s.taps() + kx * s.channels + channel;
          packed[tap * lanes + map % lanes] = *weights++;
        }
}

void convolution_pool_forward(const ConvolutionShape& s, const float* frame, const float* packed,
                              const float* bias, float* rows, float* out, std::uint8_t* winner) {
  with_lanes_for(s.maps, [&]<std::size_t kLanes>() {
    // Known strides let the compiler address pixels without arithmetic.
    const auto run = s.channels == 1   ? forward<kLanes, 1>
                     : s.channels == 6 ? forward<kLanes, 6>
                     : s.channels == 8 ? forward<kLanes, 8>
                                       : forward<kLanes, 0>;
    run(s, frame, packed, bias, rows, out, winner);
  });
}

}  // namespace steelyard::kernels
