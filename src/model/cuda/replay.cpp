#include <limits>
#include <utility>
#include <variant>

#include "kernels/cuda/pattern.hpp"
#include "kernels/cuda/update.hpp"
#include "src/base/check.hpp"
#include "src/cuda/buffer.hpp"
#include "src/model/device.hpp"
#include "src/model/pattern.hpp"

namespace steelyard {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
constexpr unsigned kElementBits = 40;

/// The pattern's tables, kept by the device: its updates need not round as those of the CPU do.
class DevicePattern {
 public:
  DevicePattern(const cuda::Stream& stream, const ModelRequest& request)
      : stream_(stream),
        optimizer_(std::move(make_optimizer(request.optimizer, request.optimizer_options)).value()),
        own_(upload(Pattern::own_table(request.share.worker))),
        all_(upload(Pattern::sum_table(request.share.workers))),
        sum_(Pattern::kClasses),
        values_(Pattern::kClasses),
        gradients_(Pattern::kClasses),
        state_(Pattern::kClasses * optimizer_->state_per_element()) {
    scale(own_, step_, gradients_);
  }

  kernels::Repeated values(TensorId tensor) const { return repeated(values_, tensor); }
  kernels::Repeated gradients(TensorId tensor) const { return repeated(gradients_, tensor); }

  /// Queues what Pattern::advance does.
  void advance() {
    scale(all_, step_, sum_);
    const kernels::UpdateArrays arrays{Pattern::kClasses, values_.data(), sum_.data(), values_.data(),
                                       state_.data()};
    std::visit([&](const auto& rule) { kernels::update(stream_.queue(), rule, arrays); },
               optimizer_->rule(step_ + 1));
    ++step_;
    scale(own_, step_, gradients_);
  }

 private:
  using Table = cuda::DeviceBuffer<float>;

  Table upload(const std::vector<float>& values) const {
    Table table(values.size());
    cuda::copy<float>(stream_, values, table.span());
    stream_.finish();
    return table;
  }
  void scale(const Table& from, Step step, const Table& to) const {
    kernels::scale(stream_.queue(), from.span(), static_cast<float>(Pattern::amplitude(step)), to.span());
  }
  static kernels::Repeated repeated(const Table& table, TensorId tensor) {
    return {table.data(), Pattern::kClasses, Pattern::class_of(tensor, 0)};
  }

  const cuda::Stream& stream_;
  std::unique_ptr<Optimizer> optimizer_;
  Step step_ = 0;
  Table own_;
  Table all_;
  Table sum_;
  Table values_;
  Table gradients_;
  Table state_;
};

class DeviceReplay final : public Model {
 public:
  DeviceReplay(const ModelRequest& request, ComputePlan plan)
      : stream_(*request.stream),
        emulation_(request.emulation),
        plan_(std::move(plan)),
        pattern_(stream_, request),
        first_wrong_(1),
        seen_(1) {
    *seen_.data() = kNone;
    cuda::copy<std::uint64_t>(stream_, seen_.span(), first_wrong_.span());
    stream_.finish();
  }

  BatchResult forward(const Batch& batch, float scale, Parameters& parameters,
                      StepObserver& observer) override {
    for (TensorId id = 0; id < plan_.forward_ns.size(); ++id) {
      observer.values_needed(id);
      kernels::find_difference(stream_.queue(), pattern_.values(id), parameters.values(id),
                               static_cast<std::uint64_t>(id) << kElementBits, first_wrong_.data());
      if (scale != 0.0F) spin(plan_.forward_ns[id], batch);
    }
    cuda::copy<std::uint64_t>(stream_, first_wrong_.span(), seen_.span());
    stream_.record(checked_);
    checked_.wait();
    if (*seen_.data() != kNone) die_of(parameters, *seen_.data());
    return {};
  }

  void backward(const Batch& batch, Parameters& parameters, StepObserver& observer) override {
    for (auto id = static_cast<TensorId>(plan_.backward_ns.size()); id-- > 0;) {
      kernels::fill(stream_.queue(), pattern_.gradients(id), parameters.gradient(id));
      spin(plan_.backward_ns[id], batch);
      observer.gradient_ready(id);
    }
    pattern_.advance();
    ++steps_;
  }

 private:
  void spin(double ns, const Batch& batch) const {
    kernels::spin(stream_.queue(), static_cast<std::uint64_t>(ns * emulation_.share_of_time(batch.count)));
  }

  [[noreturn]] void die_of(Parameters& parameters, std::uint64_t where) const {
    const auto id = static_cast<TensorId>(where >> kElementBits);
    const std::size_t element = where & ((std::uint64_t{1} << kElementBits) - 1);
    die("replay: before step " + std::to_string(steps_) + " element " + std::to_string(element) + " of '" +
        parameters.inventory()[id].name + "' is " + std::to_string(parameters.host_values(id)[element]) +
        " on the device, not what the updates so far make it");
  }

  const cuda::Stream& stream_;
  Emulation emulation_;
  ComputePlan plan_;
  DevicePattern pattern_;
  cuda::DeviceBuffer<std::uint64_t> first_wrong_;  ///< The least tensor and element that was wrong.
  cuda::PinnedBuffer<std::uint64_t> seen_;
  cuda::Event checked_;
  Step steps_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_device_replay(const ModelRequest& request, ComputePlan plan) {
  return std::make_unique<DeviceReplay>(request, std::move(plan));
}

}  // namespace steelyard
