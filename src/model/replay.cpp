#include "src/base/check.hpp"
#include "src/model/device.hpp"
#include "src/model/inventory_file.hpp"
#include "src/model/model.hpp"
#include "src/model/pattern.hpp"

namespace steelyard {
namespace {

/// The traffic of a model without its arithmetic: passes walk over the tensors in creation order and back,
/// take as long as asked, write exact gradients and check every value that they are given.
class Replay final : public Model {
 public:
  Replay(const ModelRequest& request, ComputePlan plan)
      : request_(request),
        plan_(std::move(plan)),
        clock_(choose_compute(request.emulation.compute).value()),
        pattern_(request.share.worker, request.share.workers,
                 std::move(make_optimizer(request.optimizer, request.optimizer_options)).value()) {}

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    for (TensorId id = 0; id < plan_.forward_ns.size(); ++id) {
      observer.values_needed(id);
      clock_.begin();
      check(parameters, id);
      if (scale != 0.0F)
        compute(plan_.forward_ns[id] * request_.emulation.share_of_time(batch.count), observer);
    }
    return {};
  }

  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    for (auto id = static_cast<TensorId>(plan_.backward_ns.size()); id-- > 0;) {
      clock_.begin();
      pattern_.fill(id, parameters.gradient(id));
      compute(plan_.backward_ns[id] * request_.emulation.share_of_time(batch.count), observer);
      observer.gradient_ready(id);
    }
    pattern_.advance();
    ++steps_;
  }

 private:
  void compute(double ns, StepObserver& observer) {
    constexpr double kNsPerMs = 1e6;
    clock_.end(ns, request_.emulation.grain_ms * kNsPerMs, [&observer] { observer.progress(); });
  }

  void check(Parameters& parameters, TensorId id) const {
    const std::span<const float> values = parameters.values(id);
    if (request_.synchronous) {
      if (const auto wrong = pattern_.first_wrong(id, values))
        die_of(parameters, id, *wrong, "expected " + std::to_string(pattern_.expected(id, *wrong)));
      return;
    }
    std::size_t begin = 0;
    for (const std::size_t end : request_.cuts[id]) {
      if (const auto wrong = Pattern::first_uneven(values.subspan(begin, end - begin)))
        die_of(parameters, id, begin + *wrong, "unlike others of its piece: it mixes versions or places");
      begin = end;
    }
  }

  [[noreturn]] void die_of(Parameters& parameters, TensorId id, std::size_t element,
                           const std::string& what) const {
    die("replay: before step " + std::to_string(steps_) + " element " + std::to_string(element) + " of '" +
        parameters.inventory()[id].name + "' is " + std::to_string(parameters.values(id)[element]) + ", " +
        what);
  }

  ModelRequest request_;
  ComputePlan plan_;
  ComputeClock clock_;
  Pattern pattern_;
  Step steps_ = 0;
};

/// A built-in model's inventory: its layers are as costly as their weights are large.
Expected<InventoryFile> built_in(std::string_view name) {
  auto spec = describe_model(name);
  if (!spec) return spec.error();
  InventoryFile file;
  file.inventory = spec.value().inventory;
  for (const Tensor& tensor : file.inventory)
    file.operations.push_back(static_cast<double>(tensor.elements()));
  return file;
}

}  // namespace

Expected<ModelSpec> describe_replay(std::string_view arguments) {
  if (arguments.empty())
    return Error{"model 'replay' needs an inventory, such as replay:resnet50; choose one of: " +
                 inventory_names() + ", or give the path of a file that ends in " + inventory_endings()};
  const bool model =
      arguments.starts_with("mlp:") || arguments.starts_with("lenet-wide:") || arguments == "video_tagger";
  auto file = model ? built_in(arguments) : read_inventory(arguments);
  if (!file) return Error{"model 'replay:" + std::string(arguments) + "': " + file.error().message};
  if (auto trainable = check_trainable(file.value().inventory); !trainable)
    return Error{"model 'replay:" + std::string(arguments) + "': " + trainable.error().message};
  ModelSpec spec;
  spec.inventory = std::move(file.value().inventory);
  for (Tensor& tensor : spec.inventory) tensor.bound = 0.0F;  // All values of a class begin alike.
  spec.operations = std::move(file.value().operations);
  spec.replay = true;
  spec.inputs = 1;
  spec.classes = 1;
  spec.make = [inventory = spec.inventory, operations = spec.operations](const ModelRequest& request) {
    ComputePlan plan = plan_compute(request.emulation, inventory, operations).value();
    if (request.stream != nullptr) return make_device_replay(request, std::move(plan));
    return std::unique_ptr<Model>(std::make_unique<Replay>(request, std::move(plan)));
  };
  return spec;
}

}  // namespace steelyard
