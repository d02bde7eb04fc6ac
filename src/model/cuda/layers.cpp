#include "kernels/cuda/convolution.hpp"
#include "kernels/cuda/dense.hpp"
#include "src/cuda/blas.hpp"
#include "src/cuda/buffer.hpp"
#include "src/model/chain.hpp"
#include "src/model/cuda/ends.hpp"

namespace steelyard {
namespace {

using kernels::Op;

/// All layers queue on one stream and share a context of cuBLAS.
struct Device {
  const cuda::Stream& stream;
  std::shared_ptr<const cuda::Blas> blas;
};

class DeviceDense final : public Layer {
 public:
  DeviceDense(Device device, TensorId first, std::size_t max_batch, const kernels::DenseShape& shape)
      : device_(std::move(device)),
        first_(first),
        shape_(shape),
        out_(max_batch * shape.out),
        out_gradient_(out_.size()) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    device_.blas->gemm({Op::none, Op::transpose, batch, shape_.out, shape_.in}, in,
                       parameters.values(first_).data(), out_.data());
    kernels::activate(device_.stream.queue(), shape(batch), parameters.values(first_ + 1).data(),
                      out_.data());
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    kernels::pass_dense_gradient(device_.stream.queue(), shape(batch), out_.data(), out_gradient_.data(),
                                 parameters.gradient(first_ + 1).data());
    device_.blas->gemm({Op::transpose, Op::none, shape_.out, shape_.in, batch}, out_gradient_.data(), in,
                       parameters.gradient(first_).data());
    if (in_gradient != nullptr)
      device_.blas->gemm({Op::none, Op::none, batch, shape_.in, shape_.out}, out_gradient_.data(),
                         parameters.values(first_).data(), in_gradient);
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  kernels::DenseShape shape(std::size_t batch) const { return {batch, shape_.in, shape_.out, shape_.relu}; }

  Device device_;
  TensorId first_;
  kernels::DenseShape shape_;
  cuda::DeviceBuffer<float> out_;
  cuda::DeviceBuffer<float> out_gradient_;
};

class DeviceConvolutionPool final : public Layer {
 public:
  DeviceConvolutionPool(Device device, TensorId first, std::size_t max_batch,
                        const kernels::ConvolutionShape& shape)
      : device_(std::move(device)),
        first_(first),
        shape_(shape),
        out_(max_batch * shape.out_elements()),
        out_gradient_(out_.size()),
        winner_(out_.size()) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    kernels::convolution_pool_forward(device_.stream.queue(), shape_, batch, in,
                                      parameters.values(first_).data(), parameters.values(first_ + 1).data(),
                                      out_.data(), winner_.data());
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    const kernels::Queue queue = device_.stream.queue();
    float* const passed = out_gradient_.data();
    kernels::pass_gradient(queue, shape_, batch, winner_.data(), passed);
    kernels::convolution_pool_backward_weights(queue, shape_, batch, in, passed, winner_.data(),
                                               parameters.gradient(first_).data(),
                                               parameters.gradient(first_ + 1).data());
    if (in_gradient != nullptr)
      kernels::convolution_pool_backward_data(queue, shape_, batch, passed, winner_.data(),
                                              parameters.values(first_).data(), in_gradient);
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  Device device_;
  TensorId first_;
  kernels::ConvolutionShape shape_;
  cuda::DeviceBuffer<float> out_;
  cuda::DeviceBuffer<float> out_gradient_;
  cuda::DeviceBuffer<std::uint8_t> winner_;
};

}  // namespace

ChainParts make_device_parts(const ChainShape& shape, std::size_t max_batch, const cuda::Stream& stream) {
  ChainParts parts;
  const Device device{stream, std::make_shared<const cuda::Blas>(stream)};
  for (const auto& layer : shape.layers) {
    const auto first = static_cast<TensorId>(2 * parts.layers.size());
    if (const auto* convolution = std::get_if<kernels::ConvolutionShape>(&layer))
      parts.layers.push_back(std::make_unique<DeviceConvolutionPool>(device, first, max_batch, *convolution));
    else if (const auto* dense = std::get_if<kernels::DenseShape>(&layer))
      parts.layers.push_back(std::make_unique<DeviceDense>(device, first, max_batch, *dense));
  }
  parts.ends = make_device_ends(shape, max_batch, stream);
  return parts;
}

}  // namespace steelyard
