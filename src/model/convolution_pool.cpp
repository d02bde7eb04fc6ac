#include <algorithm>

#include "kernels/convolution.hpp"
#include "src/model/chain.hpp"

namespace steelyard {
namespace {

/// One image at a time, so that what it needs stays in the cache. Inputs and outputs are [pixels, channels].
class ConvolutionPool final : public Layer {
 public:
  ConvolutionPool(TensorId first, std::size_t max_batch, const kernels::ConvolutionShape& shape)
      : first_(first),
        shape_(shape),
        frame_(shape.frame_elements()),
        frame_gradient_(shape.frame_elements()),
        packed_(shape.packed_elements()),
        tap_rows_(shape.tap_rows_elements()),
        sums_(shape.tap_rows_elements()),
        rows_(shape.rows_elements()),
        masks_(4 * shape.pooled()),
        out_(max_batch * shape.out_elements() + kernels::kSlack),
        out_gradient_(out_.size()),
        winner_(out_.size()) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    kernels::pack_weights(shape_, parameters.values(first_).data(), packed_.data());
    const float* bias = parameters.values(first_ + 1).data();
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * shape_.out_elements();
      kernels::pad(shape_, in + i * shape_.in_elements(), frame_.data());
      kernels::convolution_pool_forward(shape_, frame_.data(), packed_.data(), bias, rows_.data(),
                                        out_.data() + begin, winner_.data() + begin);
    }
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    const auto bias_gradient = parameters.gradient(first_ + 1);
    std::ranges::fill(bias_gradient, 0.0F);
    std::ranges::fill(sums_.span(), 0.0F);
    kernels::pack_tap_rows(shape_, parameters.values(first_).data(), tap_rows_.data());
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * shape_.out_elements();
      float* gradient = out_gradient_.data() + begin;
      kernels::pass_gradient(shape_, winner_.data() + begin, gradient);
      kernels::pad(shape_, in + i * shape_.in_elements(), frame_.data());
      kernels::convolution_pool_backward_weights(shape_, frame_.data(), gradient, winner_.data() + begin,
                                                 sums_.data(), bias_gradient.data());
      if (in_gradient == nullptr) continue;
      kernels::convolution_pool_backward_data(shape_, gradient, winner_.data() + begin, tap_rows_.data(),
                                              masks_.data(), frame_gradient_.data());
      kernels::crop(shape_, frame_gradient_.data(), in_gradient + i * shape_.in_elements());
    }
    kernels::unpack_tap_rows(shape_, sums_.data(), parameters.gradient(first_).data());
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  TensorId first_;
  kernels::ConvolutionShape shape_;
  AlignedArray<float> frame_;  ///< The image with zeros around it.
  AlignedArray<float> frame_gradient_;
  AlignedArray<float> packed_;    ///< Weights for the forward pass.
  AlignedArray<float> tap_rows_;  ///< Weights for the gradient of the image.
  AlignedArray<float> sums_;      ///< Gradients of the weights, as tap_rows_.
  AlignedArray<float> rows_;      ///< Two rows of outputs before pooling.
  AlignedArray<std::uint64_t> masks_;
  AlignedArray<float> out_;
  AlignedArray<float> out_gradient_;
  AlignedArray<std::uint8_t> winner_;
};

}  // namespace

std::unique_ptr<Layer> make_convolution_pool(TensorId first, std::size_t max_batch,
                                             const kernels::ConvolutionShape& shape) {
  return std::make_unique<ConvolutionPool>(first, max_batch, shape);
}

}  // namespace steelyard
