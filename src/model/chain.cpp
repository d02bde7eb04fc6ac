#include "src/model/chain.hpp"

#include <cmath>
#include <utility>

namespace steelyard {
namespace {

class Chain final : public Model {
 public:
  Chain(std::vector<std::unique_ptr<Layer>> layers, std::size_t classes, Loss* loss)
      : layers_(std::move(layers)), classes_(classes), loss_(loss) {}

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    const float* in = batch.features.data();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      observer.values_needed(weight(i));
      observer.values_needed(weight(i) + 1);
      layers_[i]->forward(batch.count, in, parameters);
      in = layers_[i]->out().data();
    }
    // The gradient of the logits is made where backward looks for it; the logits stay as they are.
    const auto logits = layers_.back()->out().first(batch.count * classes_);
    const auto gradient = layers_.back()->out_gradient();
    std::copy(logits.begin(), logits.end(), gradient.begin());
    BatchResult result = loss_(batch, classes_, scale, gradient.data());
    if (!batch.tags.empty()) result.scores = logits;
    return result;
  }

  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    for (std::size_t i = layers_.size(); i-- > 0;) {
      const float* in = i == 0 ? batch.features.data() : layers_[i - 1]->out().data();
      float* in_gradient = i == 0 ? nullptr : layers_[i - 1]->out_gradient().data();
      layers_[i]->backward(batch.count, in, in_gradient, parameters);
      observer.gradient_ready(weight(i) + 1);
      observer.gradient_ready(weight(i));
    }
  }

 private:
  static TensorId weight(std::size_t layer) { return static_cast<TensorId>(2 * layer); }

  std::vector<std::unique_ptr<Layer>> layers_;
  std::size_t classes_;
  Loss* loss_;
};

}  // namespace

std::unique_ptr<Model> make_chain(std::vector<std::unique_ptr<Layer>> layers, std::size_t classes,
                                  Loss* loss) {
  return std::make_unique<Chain>(std::move(layers), classes, loss);
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
