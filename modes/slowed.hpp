#pragma once

/// @file
/// A worker whose compute takes longer than it needs (`--slow worker=N:...`).

#include <functional>
#include <memory>

#include "src/model/emulation.hpp"
#include "src/model/model.hpp"

namespace steelyard {

/// Stands between a model and who observes its steps. Before each of the model's calls is passed on, it
/// sleeps for as long as the compute since the last one took, times factor - 1, and lets messages move
/// meanwhile. Passes without a gradient (scale 0), as of an evaluation, are left as they are.
class SlowedModel final : public Model, private StepObserver {
 public:
  struct Pace {
    std::function<double()> factor;  ///< Of the present step, at least 1; asked at the begin of each pass.
    double grain_ns = 1e6;           ///< While it sleeps messages move this often; 0: never.
    /// Compute goes on while the observer lets messages move, as that of a GPU does: their time is in it.
    bool beside = false;
  };

  SlowedModel(std::unique_ptr<Model> model, Pace pace) : model_(std::move(model)), pace_(std::move(pace)) {}

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override;
  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override;

 private:
  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void progress() override;

  void begin_pass(StepObserver& observer);
  /// Sleeps for what has been computed since computed_since_ns_.
  void catch_up();

  std::unique_ptr<Model> model_;
  Pace pace_;
  StepObserver* observer_ = nullptr;  ///< Of the present pass.
  ComputeClock clock_{Compute::sleep};
  double longer_by_ = 0.0;  ///< Times what was computed.
  std::int64_t computed_since_ns_ = 0;
};

}  // namespace steelyard
