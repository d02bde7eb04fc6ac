#include "tests/support/reordered.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/watcher.hpp"

namespace steelyard::test {
namespace {

class Reordered final : public Model {
 public:
  Reordered(std::unique_ptr<Model> model, std::size_t tensors, int worker)
      : model_(std::move(model)), tensors_(tensors), worker_(static_cast<std::size_t>(worker)) {
    watcher_.ready.reserve(tensors);
  }

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    return model_->forward(batch, scale, parameters, observer);
  }
  /// Creation order, begun in another place by each worker. Nobody begins with the last tensor.
  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    watcher_.ready.clear();
    model_->backward(batch, parameters, watcher_);
    std::ranges::sort(watcher_.ready);
    const std::size_t begin = (worker_ + 1) % (tensors_ - 1);
    for (std::size_t i = 0; i < tensors_; ++i)
      observer.gradient_ready(watcher_.ready[(begin + i) % tensors_]);
  }

 private:
  std::unique_ptr<Model> model_;
  std::size_t tensors_;
  std::size_t worker_;
  Watcher watcher_;
};

}  // namespace

ModelSpec reordered(ModelSpec spec) {
  spec.make = [make = std::move(spec.make), tensors = spec.inventory.size()](const ModelRequest& request) {
    return std::make_unique<Reordered>(make(request), tensors, request.share.worker);
  };
  return spec;
}

}  // namespace steelyard::test
