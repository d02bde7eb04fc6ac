#include "modes/slowed.hpp"

#include "src/base/clock.hpp"

namespace steelyard {
namespace {

std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace

BatchResult SlowedModel::forward(const Batch& batch, float scale, Parameters& parameters,
                                 StepObserver& observer) {
  if (scale == 0.0F) return model_->forward(batch, scale, parameters, observer);
  begin_pass(observer);
  const BatchResult result = model_->forward(batch, scale, parameters, *this);
  catch_up();
  return result;
}

void SlowedModel::backward(const Batch& batch, Parameters& parameters, StepObserver& observer) {
  begin_pass(observer);
  model_->backward(batch, parameters, *this);
  catch_up();
}

void SlowedModel::values_needed(TensorId tensor) {
  catch_up();
  observer_->values_needed(tensor);
  computed_since_ns_ = now_ns();
}

void SlowedModel::gradient_ready(TensorId tensor) {
  catch_up();
  observer_->gradient_ready(tensor);
  computed_since_ns_ = now_ns();
}

// Nothing is slept here: emulated compute takes what passes in here for a part of its own time.
void SlowedModel::progress() {
  const std::int64_t begin_ns = now_ns();
  observer_->progress();
  if (!pace_.beside) computed_since_ns_ += now_ns() - begin_ns;
}

void SlowedModel::begin_pass(StepObserver& observer) {
  observer_ = &observer;
  longer_by_ = pace_.factor() - 1.0;
  computed_since_ns_ = now_ns();
}

void SlowedModel::catch_up() {
  const auto computed_ns = static_cast<double>(now_ns() - computed_since_ns_);
  clock_.begin();
  clock_.end(longer_by_ * computed_ns, pace_.grain_ns, [this] { observer_->progress(); });
}

}  // namespace steelyard
