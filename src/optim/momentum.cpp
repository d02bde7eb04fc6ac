#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {
namespace {

class Momentum final : public Optimizer {
 public:
  explicit Momentum(const OptimizerOptions& options) : options_(options) {}

  std::size_t state_per_element() const override { return 1; }
  void apply(const Update& u) const override {
    kernels::update(kernels::MomentumRule{options_.rate * u.rate, options_.momentum},
                    {u.from.size(), u.from.data(), u.gradient.data(), u.to.data(), u.state.data()});
  }

 private:
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_momentum_optimizer(const OptimizerOptions& options) {
  return std::make_unique<Momentum>(options);
}

}  // namespace steelyard
