#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {
namespace {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const OptimizerOptions& options) : options_(options) {}

  std::size_t state_per_element() const override { return 0; }
  void apply(const Update& u) const override {
    kernels::update(kernels::SgdRule{options_.rate * u.rate},
                    {u.from.size(), u.from.data(), u.gradient.data(), u.to.data(), u.state.data()});
  }

 private:
  OptimizerOptions options_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd_optimizer(const OptimizerOptions& options) {
  return std::make_unique<Sgd>(options);
}

}  // namespace steelyard
