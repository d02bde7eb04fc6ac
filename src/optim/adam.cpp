#include <cmath>

#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {
namespace {

class Adam final : public Optimizer {
 public:
  explicit Adam(const OptimizerOptions& options) : options_(options) {}

  std::size_t state_per_element() const override { return 2; }
  void apply(const Update& u) const override {
    constexpr double kBeta1 = 0.9;
    constexpr double kBeta2 = 0.999;
    const auto count = static_cast<double>(u.count);
    const kernels::AdamRule rule{options_.rate * u.rate,
                                 static_cast<float>(kBeta1),
                                 static_cast<float>(kBeta2),
                                 1e-8F,
                                 static_cast<float>(1.0 - std::pow(kBeta1, count)),
                                 static_cast<float>(1.0 - std::pow(kBeta2, count))};
    kernels::update(rule, {u.from.size(), u.from.data(), u.gradient.data(), u.to.data(), u.state.data()});
  }

 private:
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adam_optimizer(const OptimizerOptions& options) {
  return std::make_unique<Adam>(options);
}

}  // namespace steelyard
