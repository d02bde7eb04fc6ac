#include <algorithm>

#include "kernels/convolution.hpp"
#include "kernels/pool.hpp"
#include "src/model/chain.hpp"

namespace steelyard {
namespace {

/// One image at a time, so that what it needs stays in the cache.
class ConvolutionPool final : public Layer {
 public:
  ConvolutionPool(TensorId first, std::size_t max_batch, const kernels::ConvolutionShape& shape)
      : first_(first),
        shape_(shape),
        pool_{shape.maps, shape.out_height(), shape.out_width(), shape.out_stride()},
        padded_(shape.padded_elements()),
        maps_(shape.out_elements()),
        maps_gradient_(shape.out_elements()),
        padded_gradient_(shape.backward().padded_elements()),
        mirrored_(shape.weights()),
        in_gradient_(shape.backward().out_elements()),
        weight_sums_(shape.weights() * kernels::kRowElements),
        out_(max_batch * pool_.out_elements()),
        out_gradient_(out_.size()),
        winner_(out_.size()) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    const float* weights = parameters.values(first_).data();
    const float* bias = parameters.values(first_ + 1).data();
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * pool_.out_elements();
      kernels::pad(shape_, in + i * shape_.in_elements(), shape_.width, padded_.data());
      kernels::convolution_forward(shape_, padded_.data(), weights, maps_.data());
      kernels::bias_relu_pool(pool_, maps_.data(), bias, out_.data() + begin, winner_.data() + begin);
    }
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    const auto bias_gradient = parameters.gradient(first_ + 1);
    std::ranges::fill(bias_gradient, 0.0F);
    std::ranges::fill(weight_sums_.span(), 0.0F);
    kernels::mirror_weights(shape_, parameters.values(first_).data(), mirrored_.data());
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * pool_.out_elements();
      kernels::bias_relu_pool_backward(pool_, out_gradient_.data() + begin, winner_.data() + begin,
                                       maps_gradient_.data(), bias_gradient.data());
      kernels::pad(shape_, in + i * shape_.in_elements(), shape_.width, padded_.data());
      kernels::convolution_backward_weights(shape_, padded_.data(), maps_gradient_.data(),
                                            weight_sums_.data());
      if (in_gradient != nullptr) backward_data(in_gradient + i * shape_.in_elements());
    }
    kernels::finish_weights(shape_, weight_sums_.data(), parameters.gradient(first_).data());
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  void backward_data(float* in_gradient) {
    const kernels::ConvolutionShape back = shape_.backward();
    kernels::pad(back, maps_gradient_.data(), shape_.out_stride(), padded_gradient_.data());
    kernels::convolution_forward(back, padded_gradient_.data(), mirrored_.data(), in_gradient_.data());
    for (std::size_t row = 0; row < shape_.channels * shape_.height; ++row)
      std::copy_n(in_gradient_.data() + row * back.out_stride(), shape_.width,
                  in_gradient + row * shape_.width);
  }

  TensorId first_;
  kernels::ConvolutionShape shape_;
  kernels::PoolShape pool_;
  AlignedArray<float> padded_;         ///< The image in its frame.
  AlignedArray<float> maps_;           ///< Before pooling.
  AlignedArray<float> maps_gradient_;  ///< Columns beyond the width stay zero.
  AlignedArray<float> padded_gradient_;
  AlignedArray<float> mirrored_;
  AlignedArray<float> in_gradient_;
  AlignedArray<float> weight_sums_;
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
