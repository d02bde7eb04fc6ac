#include <algorithm>

#include "kernels/convolution.hpp"
#include "kernels/pool.hpp"
#include "src/model/chain.hpp"

namespace steelyard {
namespace {

/// One image at a time, so that its columns stay in the cache; backward unfolds again rather than keep them.
class ConvolutionPool final : public Layer {
 public:
  ConvolutionPool(TensorId first, std::size_t max_batch, const kernels::ConvolutionShape& shape)
      : first_(first),
        shape_(shape),
        pool_{shape.maps, shape.out_height(), shape.out_width()},
        columns_(shape.patch() * shape.pixels()),
        maps_(shape.out_elements()),
        out_(max_batch * pool_.out_elements()),
        out_gradient_(out_.size()),
        winner_(out_.size()) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    const float* weights = parameters.values(first_).data();
    const float* bias = parameters.values(first_ + 1).data();
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * pool_.out_elements();
      kernels::unfold(shape_, in + i * shape_.in_elements(), columns_.data());
      kernels::convolution_forward(shape_, columns_.data(), weights, maps_.data());
      kernels::bias_relu_pool(pool_, maps_.data(), bias, out_.data() + begin, winner_.data() + begin);
    }
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    const auto weights_gradient = parameters.gradient(first_);
    const auto bias_gradient = parameters.gradient(first_ + 1);
    std::ranges::fill(weights_gradient, 0.0F);
    std::ranges::fill(bias_gradient, 0.0F);
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t begin = i * pool_.out_elements();
      kernels::bias_relu_pool_backward(pool_, out_gradient_.data() + begin, winner_.data() + begin,
                                       maps_.data(), bias_gradient.data());
      kernels::unfold(shape_, in + i * shape_.in_elements(), columns_.data());
      kernels::convolution_backward_weights(shape_, columns_.data(), maps_.data(), weights_gradient.data());
      if (in_gradient != nullptr)
        kernels::convolution_backward_data(shape_, parameters.values(first_).data(), maps_.data(),
                                           columns_.data(), in_gradient + i * shape_.in_elements());
    }
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  TensorId first_;
  kernels::ConvolutionShape shape_;
  kernels::PoolShape pool_;
  AlignedArray<float> columns_;
  AlignedArray<float> maps_;
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
