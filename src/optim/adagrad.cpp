#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {
namespace {

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const OptimizerOptions& options) : options_(options) {}

  std::size_t state_per_element() const override { return 1; }
  void apply(const Update& u) const override {
    kernels::update(kernels::AdagradRule{options_.rate * u.rate, 1e-10F},
                    {u.from.size(), u.from.data(), u.gradient.data(), u.to.data(), u.state.data()});
  }

 private:
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adagrad_optimizer(const OptimizerOptions& options) {
  return std::make_unique<Adagrad>(options);
}

}  // namespace steelyard
