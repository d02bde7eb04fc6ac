#include "kernels/convolution.hpp"

#include <algorithm>

#include "kernels/cpu/lanes.hpp"

namespace steelyard::kernels {
namespace {

/// Where the rows of a convolution lie.
struct Rows {
  std::size_t channels;
  std::size_t kernel;
  std::size_t in_stride;
  std::size_t in_plane;
  std::size_t out_stride;
  std::size_t out_plane;
};

Rows rows_of(const ConvolutionShape& s) {
  const std::size_t in_stride = s.width + 2 * s.padding;
  return {s.channels,     s.kernel,
          in_stride,      in_stride * (s.height + 2 * s.padding),
          s.out_stride(), s.out_stride() * s.out_height()};
}

/// `kHigh` output rows by `kMaps` maps by one vector of columns, all in registers while the taps go by: the
/// loads of the input are shared by the maps, the broadcasts of the weights by the rows.
template <std::size_t kMaps, std::size_t kHigh>
void block(const Rows& r, const float* in, const float* weights, float* out) {
  Vector sum[kMaps][kHigh] = {};
  const std::size_t taps = r.kernel * r.kernel;
  for (std::size_t channel = 0; channel < r.channels; ++channel)
    for (std::size_t tap = 0; tap < taps; ++tap) {
      const float* from = in + channel * r.in_plane + tap / r.kernel * r.in_stride + tap % r.kernel;
      Vector seen[kHigh];
      for (std::size_t y = 0; y < kHigh; ++y) seen[y] = load(from + y * r.in_stride);
      for (std::size_t map = 0; map < kMaps; ++map) {
        const float weight = weights[(map * r.channels + channel) * taps + tap];
        for (std::size_t y = 0; y < kHigh; ++y) sum[map][y] += weight * seen[y];
      }
    }
  for (std::size_t map = 0; map < kMaps; ++map)
    for (std::size_t y = 0; y < kHigh; ++y) store(out + map * r.out_plane + y * r.out_stride, sum[map][y]);
}

/// All rows and columns of `kMaps` maps.
template <std::size_t kMaps>
void maps(const ConvolutionShape& s, const Rows& r, const float* in, const float* weights, float* out) {
  for (std::size_t x = 0; x < s.out_width(); x += kLanes) {
    std::size_t y = 0;
    for (; y + 2 <= s.out_height(); y += 2)
      block<kMaps, 2>(r, in + y * r.in_stride + x, weights, out + y * r.out_stride + x);
    if (y < s.out_height()) block<kMaps, 1>(r, in + y * r.in_stride + x, weights, out + y * r.out_stride + x);
  }
}

/// Two maps against one channel and one kernel row: `kKernel` taps each.
template <std::size_t kKernel>
void weight_sums(const ConvolutionShape& s, const Rows& r, const float* in, const float* gradient,
                 std::size_t maps, float* sums, std::size_t sums_of_map) {
  for (std::size_t part = 0; part < kRowElements; part += kLanes) {
    Vector first[kKernel];
    Vector second[kKernel];
    for (std::size_t k = 0; k < kKernel; ++k) {
      first[k] = load(sums + k * kRowElements + part);
      second[k] = load(sums + (maps > 1 ? sums_of_map : 0) + k * kRowElements + part);
    }
    const float* other = gradient + (maps > 1 ? r.out_plane : 0);
    for (std::size_t y = 0; y < s.out_height(); ++y)
      for (std::size_t x = part; x < r.out_stride; x += kRowElements) {
        const Vector a = load(gradient + y * r.out_stride + x);
        const Vector b = load(other + y * r.out_stride + x);
        for (std::size_t k = 0; k < kKernel; ++k) {
          const Vector seen = load(in + y * r.in_stride + x + k);
          first[k] += a * seen;
          second[k] += b * seen;
        }
      }
    for (std::size_t k = 0; k < kKernel; ++k) {
      store(sums + k * kRowElements + part, first[k]);
      if (maps > 1) store(sums + sums_of_map + k * kRowElements + part, second[k]);
    }
  }
}

/// Any kernel size, one tap at a time.
void weight_sums_of_any_size(const ConvolutionShape& s, const Rows& r, const float* in, const float* gradient,
                             std::size_t maps, float* sums, std::size_t sums_of_map) {
  for (std::size_t k = 0; k < s.kernel; ++k)
    weight_sums<1>(s, r, in + k, gradient, maps, sums + k * kRowElements, sums_of_map);
}

}  // namespace

void pad(const ConvolutionShape& s, const float* image, std::size_t stride, float* padded) {
  const std::size_t padded_width = s.width + 2 * s.padding;
  for (std::size_t channel = 0; channel < s.channels; ++channel)
    for (std::size_t y = 0; y < s.height; ++y)
      std::copy_n(image + (channel * s.height + y) * stride, s.width,
                  padded + (channel * (s.height + 2 * s.padding) + y + s.padding) * padded_width + s.padding);
}

void convolution_forward(const ConvolutionShape& s, const float* padded, const float* weights, float* out) {
  const Rows r = rows_of(s);
  const std::size_t weights_of_map = s.channels * s.kernel * s.kernel;
  std::size_t map = 0;
  const auto take = [&](auto run, std::size_t count) {
    for (; map + count <= s.maps; map += count)
      run(s, r, padded, weights + map * weights_of_map, out + map * r.out_plane);
  };
  if constexpr (kLanes == 16) take(maps<8>, 8);  // 16 sums, with 32 registers.
  take(maps<4>, 4);
  take(maps<2>, 2);
  take(maps<1>, 1);
}

void mirror_weights(const ConvolutionShape& s, const float* weights, float* mirrored) {
  const std::size_t taps = s.kernel * s.kernel;
  for (std::size_t map = 0; map < s.maps; ++map)
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t tap = 0; tap < taps; ++tap)
        mirrored[(channel * s.maps + map) * taps + taps - 1 - tap] =
            weights[(map * s.channels + channel) * taps + tap];
}

void convolution_backward_weights(const ConvolutionShape& s, const float* padded, const float* out_gradient,
                                  float* sums) {
  const Rows r = rows_of(s);
  const std::size_t sums_of_map = s.channels * s.kernel * s.kernel * kRowElements;
  const auto run = s.kernel == 5 ? weight_sums<5> : s.kernel == 3 ? weight_sums<3> : weight_sums_of_any_size;
  for (std::size_t map = 0; map < s.maps; map += 2)
    for (std::size_t channel = 0; channel < s.channels; ++channel)
      for (std::size_t ky = 0; ky < s.kernel; ++ky)
        run(s, r, padded + channel * r.in_plane + ky * r.in_stride, out_gradient + map * r.out_plane,
            std::min<std::size_t>(2, s.maps - map),
            sums + map * sums_of_map + (channel * s.kernel + ky) * s.kernel * kRowElements, sums_of_map);
}

void finish_weights(const ConvolutionShape& s, const float* sums, float* weights_gradient) {
  for (std::size_t i = 0; i < s.weights(); ++i) {
    float sum = 0.0F;
    for (std::size_t lane = 0; lane < kRowElements; ++lane) sum += sums[i * kRowElements + lane];
    weights_gradient[i] = sum;
  }
}

}  // namespace steelyard::kernels
