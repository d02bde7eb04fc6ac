#include "src/base/catalog.hpp"
#include "kernels/cpu/update.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {

#define OPTIMIZER(name, help) MakeRule name##_rule;
#include "src/optim/optimizers.def"
#undef OPTIMIZER

namespace {
constexpr Choice<MakeRule> kRows[] = {
#define OPTIMIZER(name, help) {#name, help, name##_rule},
#include "src/optim/optimizers.def"
#undef OPTIMIZER
};
}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options, MakeRule* make)
    : options_(options),
      make_(make),
      state_per_element_(
          std::visit([]<typename Rule>(const Rule&) { return kernels::kStateOf<Rule>; }, make(options, 1))) {}

void Optimizer::apply(const Update& u) const {
  const kernels::UpdateArrays arrays{u.from.size(), u.from.data(), u.gradient.data(), u.to.data(),
                                     u.state.data()};
  std::visit([&arrays](const auto& one) { kernels::update(one, arrays); }, rule(u.count, u.rate));
}

Expected<std::unique_ptr<Optimizer>> make_optimizer(std::string_view name, const OptimizerOptions& options) {
  auto make = choose<MakeRule>("optimizer", kRows, name);
  if (!make) return make.error();
  return std::make_unique<Optimizer>(options, make.value());
}

std::string optimizer_help() { return help<MakeRule>(kRows); }

}  // namespace steelyard
