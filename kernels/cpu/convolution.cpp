#include "kernels/convolution.hpp"

#include <algorithm>

#include "kernels/gemm.hpp"

namespace steelyard::kernels {
namespace {

/// The output pixels of one row whose input column lies inside the image: [begin, end), first input column.
struct Overlap {
  std::size_t begin;
  std::size_t end;
  std::size_t input;
};

Overlap overlap(std::size_t offset, std::size_t padding, std::size_t in, std::size_t out) {
  const std::size_t begin = padding > offset ? padding - offset : 0;
  const std::size_t end = std::min(out, in + padding - offset);
  return {begin, end, begin + offset - padding};
}

/// Calls visit(row of columns, row of image, overlap) for every stretch of `columns` that image data fills.
template <typename Visit>
void for_each_stretch(const ConvolutionShape& s, Visit&& visit) {
  std::size_t patch_row = 0;
  for (std::size_t channel = 0; channel < s.channels; ++channel)
    for (std::size_t ky = 0; ky < s.kernel; ++ky)
      for (std::size_t kx = 0; kx < s.kernel; ++kx, ++patch_row) {
        const Overlap rows = overlap(ky, s.padding, s.height, s.out_height());
        const Overlap columns = overlap(kx, s.padding, s.width, s.out_width());
        for (std::size_t y = rows.begin; y < rows.end; ++y)
          visit(patch_row * s.pixels() + y * s.out_width(),
                (channel * s.height + rows.input + y - rows.begin) * s.width, columns);
      }
}

}  // namespace

void unfold(const ConvolutionShape& s, const float* image, float* columns) {
  if (s.padding > 0) std::fill_n(columns, s.patch() * s.pixels(), 0.0F);
  for_each_stretch(s, [=](std::size_t to, std::size_t from, const Overlap& o) {
    std::copy_n(image + from + o.input, o.end - o.begin, columns + to + o.begin);
  });
}

void convolution_forward(const ConvolutionShape& s, const float* columns, const float* weights, float* out) {
  gemm({Op::none, Op::none, s.maps, s.pixels(), s.patch()}, weights, columns, out);
}

void convolution_backward_weights(const ConvolutionShape& s, const float* columns, const float* out_gradient,
                                  float* weights_gradient) {
  gemm({Op::none, Op::transpose, s.maps, s.patch(), s.pixels(), true}, out_gradient, columns,
       weights_gradient);
}

void convolution_backward_data(const ConvolutionShape& s, const float* weights, const float* out_gradient,
                               float* columns, float* image_gradient) {
  gemm({Op::transpose, Op::none, s.patch(), s.pixels(), s.maps}, weights, out_gradient, columns);
  std::fill_n(image_gradient, s.in_elements(), 0.0F);
  for_each_stretch(s, [=](std::size_t from, std::size_t to, const Overlap& o) {
    for (std::size_t x = 0; x < o.end - o.begin; ++x)
      image_gradient[to + o.input + x] += columns[from + o.begin + x];
  });
}

}  // namespace steelyard::kernels
