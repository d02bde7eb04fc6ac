#include "src/model/chain.hpp"

#include <cmath>
#include <utility>

namespace steelyard {
namespace {

class Chain final : public Model {
 public:
  Chain(ChainParts parts, std::size_t classes)
      : layers_(std::move(parts.layers)), ends_(std::move(parts.ends)), classes_(classes) {}

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    input_ = ends_->input(batch);
    const float* in = input_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      observer.values_needed(weight(i));
      observer.values_needed(weight(i) + 1);
      layers_[i]->forward(batch.count, in, parameters);
      in = layers_[i]->out().data();
    }
    // The gradient of the logits is made where backward looks for it; the logits stay as they are.
    Layer& last = *layers_.back();
    return ends_->loss(batch, scale, last.out().first(batch.count * classes_), last.out_gradient().data());
  }

  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const float* in = i == 0 ? input_ : layers_[i - 1]->out().data();
      float* in_gradient = i == 0 ? nullptr : layers_[i - 1]->out_gradient().data();
      layers_[i]->backward(batch.count, in, in_gradient, parameters);
      observer.gradient_ready(weight(i) + 1);
      observer.gradient_ready(weight(i));
    }
  }

  std::span<float> staging() override { return ends_->staging(); }

 private:
  static TensorId weight(std::size_t layer) { return static_cast<TensorId>(2 * layer); }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::unique_ptr<ChainEnds> ends_;
  std::size_t classes_;
  const float* input_ = nullptr;  ///< Of the last forward pass.
};

}  // namespace

ChainParts make_host_parts(const ChainShape& shape, std::size_t max_batch) {
  ChainParts parts;
  for (const auto& layer : shape.layers) {
    const auto first = static_cast<TensorId>(2 * parts.layers.size());
    if (const auto* convolution = std::get_if<kernels::ConvolutionShape>(&layer))
      parts.layers.push_back(make_convolution_pool(first, max_batch, *convolution));
    else if (const auto* dense = std::get_if<kernels::DenseShape>(&layer))
      parts.layers.push_back(make_dense(first, max_batch, dense->in, dense->out, dense->relu));
  }
  parts.ends = make_host_ends(shape);
  return parts;
}

std::unique_ptr<Model> make_chain(const ChainShape& shape, const ModelRequest& request) {
  return std::make_unique<Chain>(request.stream == nullptr
                                     ? make_host_parts(shape, request.max_batch)
                                     : make_device_parts(shape, request.max_batch, *request.stream),
                                 shape.classes);
}

void append_layer(Inventory& inventory, const std::string& name, std::vector<std::size_t> weight_shape) {
  const std::size_t out = weight_shape.front();
  Tensor weight{name + ".weight", std::move(weight_shape)};
  weight.bound = 1.0F / std::sqrt(static_cast<float>(weight.elements() / out));
  const Tensor bias{name + ".bias", {out}, weight.bound};
  inventory.push_back(std::move(weight));
  inventory.push_back(bias);
}

}  // namespace steelyard
