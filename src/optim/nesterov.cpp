#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {
namespace {

class Nesterov final : public Optimizer {
 public:
  explicit Nesterov(const OptimizerOptions& options) : options_(options) {}

  std::size_t state_per_element() const override { return 1; }
  void apply(const Update& u) const override {
    kernels::update(kernels::NesterovRule{options_.rate * u.rate, options_.momentum},
                    {u.from.size(), u.from.data(), u.gradient.data(), u.to.data(), u.state.data()});
  }

 private:
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_nesterov_optimizer(const OptimizerOptions& options) {
  return std::make_unique<Nesterov>(options);
}

}  // namespace steelyard
