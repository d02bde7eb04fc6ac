#include "kernels/dense.hpp"

#include "src/model/chain.hpp"

namespace steelyard {
namespace {

class Dense final : public Layer {
 public:
  Dense(TensorId first, std::size_t max_batch, std::size_t in, std::size_t out, bool relu)
      : first_(first),
        shape_{max_batch, in, out, relu},
        out_(max_batch * out),
        out_gradient_(max_batch * out) {}

  void forward(std::size_t batch, const float* in, Parameters& parameters) override {
    // The gradient is made later; its place is scratch until then.
    kernels::dense_forward(shape(batch), in, parameters.values(first_).data(),
                           parameters.values(first_ + 1).data(), out_gradient_.data(), out_.data());
  }

  void backward(std::size_t batch, const float* in, float* in_gradient, Parameters& parameters) override {
    kernels::dense_backward_weights(shape(batch), in, out_.data(), out_gradient_.data(),
                                    parameters.gradient(first_).data(),
                                    parameters.gradient(first_ + 1).data());
    if (in_gradient != nullptr)
      kernels::dense_backward_data(shape(batch), out_gradient_.data(), parameters.values(first_).data(),
                                   in_gradient);
  }

  std::span<float> out() override { return out_.span(); }
  std::span<float> out_gradient() override { return out_gradient_.span(); }

 private:
  kernels::DenseShape shape(std::size_t batch) const { return {batch, shape_.in, shape_.out, shape_.relu}; }

  TensorId first_;
  kernels::DenseShape shape_;
  AlignedArray<float> out_;
  AlignedArray<float> out_gradient_;
};

}  // namespace

std::unique_ptr<Layer> make_dense(TensorId first, std::size_t max_batch, std::size_t in, std::size_t out,
                                  bool relu) {
  return std::make_unique<Dense>(first, max_batch, in, out, relu);
}

}  // namespace steelyard
