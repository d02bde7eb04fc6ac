#pragma once

/// @file
/// A model knows its tensors, its loss, and its gradients. It knows nothing of ranks.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"
#include "src/data/sampler.hpp"
#include "src/model/emulation.hpp"
#include "src/model/parameters.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {

namespace cuda {
class Stream;
}

/// Some samples. A batch may be empty: then the loss is 0 and so is every gradient.
struct Batch {
  std::size_t count = 0;
  std::span<const float> features;        ///< [count, inputs]
  std::span<const std::uint8_t> labels;   ///< [count]; none where the model takes tags
  std::span<const std::uint16_t> tags{};  ///< [count] bit i says whether class i applies; none without tags
};

struct BatchResult {
  double loss_sum = 0.0;
  std::size_t correct = 0;  ///< Of models with labels.
  /// Of models with tags [count, classes]: the greater, the more likely the tag. Valid until the next pass.
  std::span<const float> scores{};
};

/// Told what the passes are about to read and have finished writing; on a device, about to queue and have
/// queued.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  /// The forward pass will read this tensor next. On return its values are those of this step.
  virtual void values_needed(TensorId) = 0;
  /// The backward pass has the final gradient of this tensor and reads its values no more in this step.
  virtual void gradient_ready(TensorId) = 0;
  /// A long layer is under way and lets messages move.
  virtual void progress() {}
};

class Model {
 public:
  virtual ~Model() = default;
  /// Keeps what backward needs, including the gradient of scale * (sum of losses) at the last layer.
  virtual BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                              StepObserver& observer) = 0;
  /// Fills every gradient; calls gradient_ready once per tensor, last tensor first. `batch` as in forward.
  virtual void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) = 0;
  /// [max_batch, inputs] memory from which it takes features fastest; empty: any. Forward is done with it
  /// when it returns.
  virtual std::span<float> staging() { return {}; }
};

/// What a worker wants a model for. Models that compute look at `max_batch` and
/// `stream` alone; the rest is for replay.
struct ModelRequest {
  std::size_t max_batch = 0;
  Share share{};
  bool synchronous = true;  ///< Every value that a worker gets is that after all workers' last step.
  std::vector<std::vector<std::size_t>> cuts{};  ///< [tensors] ascending ends of the pieces of each tensor.
  std::string optimizer = "sgd";
  OptimizerOptions optimizer_options{};
  Emulation emulation{};
  const cuda::Stream* stream = nullptr;  ///< Of the device that computes; null: the CPU does.
};

/// What can be known of a model without building it.
struct ModelSpec {
  std::string name;
  Inventory inventory;
  std::size_t inputs = 0;
  std::size_t classes = 0;
  bool replay = false;               ///< Takes no data and has no loss.
  bool tagged = false;               ///< Takes sets of tags, not labels; `classes` is at most 16.
  std::string data{};                ///< The data set that it is made for; empty: any that fits.
  std::vector<double> operations{};  ///< replay: [tensors] cost of each, in any unit.
  /// Allocates all workspace for batches of up to `request.max_batch`; the passes allocate nothing.
  std::function<std::unique_ptr<Model>(const ModelRequest& request)> make;
};

/// @param name `kind` or `kind:arguments`, kind one of models.def.
Expected<ModelSpec> describe_model(std::string_view name);
/// Whether the kind is one of models.def, whatever the arguments.
bool is_model_kind(std::string_view kind);
std::string model_help();

}  // namespace steelyard
