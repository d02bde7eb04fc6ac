#include "modes/ps/staleness/staleness.hpp"

namespace steelyard::ps {
namespace {

// Zheng et al. 2017 (DC-ASGD): g + lambda g g (w - w_read), the first term of the gradient's own change from
// w_read to w, with lambda g g for the Hessian's diagonal.
class Compensate final : public StalenessPolicy {
 public:
  explicit Compensate(double lambda) : lambda_(static_cast<float>(lambda)) {}

  Use use(const StaleGradient& push, std::span<float> scratch) const override {
    if (push.staleness == 0) return {false, 1.0F, push.gradient};
    const std::span<float> corrected = scratch.first(push.gradient.size());
    for (std::size_t i = 0; i < corrected.size(); ++i) {
      const float g = push.gradient[i];
      corrected[i] = g + lambda_ * g * g * (push.now[i] - push.read[i]);
    }
    return {false, 1.0F, corrected};
  }
  bool needs_values_read() const override { return true; }

 private:
  float lambda_;
};

}  // namespace

std::unique_ptr<StalenessPolicy> make_compensate(const StalenessOptions& options) {
  return std::make_unique<Compensate>(options.compensation);
}

}  // namespace steelyard::ps
