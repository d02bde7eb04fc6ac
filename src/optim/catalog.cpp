#include "src/base/catalog.hpp"
#include "src/optim/optimizer.hpp"

namespace steelyard {

using MakeOptimizer = std::unique_ptr<Optimizer>(const OptimizerOptions&);

#define OPTIMIZER(name, help) MakeOptimizer make_##name##_optimizer;
#include "src/optim/optimizers.def"
#undef OPTIMIZER

namespace {
constexpr Choice<MakeOptimizer> kRows[] = {
#define OPTIMIZER(name, help) {#name, help, make_##name##_optimizer},
#include "src/optim/optimizers.def"
#undef OPTIMIZER
};
}  // namespace

Expected<std::unique_ptr<Optimizer>> make_optimizer(std::string_view name, const OptimizerOptions& options) {
  auto make = choose<MakeOptimizer>("optimizer", kRows, name);
  if (!make) return make.error();
  return make.value()(options);
}

std::string optimizer_help() { return help<MakeOptimizer>(kRows); }

}  // namespace steelyard
