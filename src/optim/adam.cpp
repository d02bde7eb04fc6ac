#include <cmath>

#include "src/optim/optimizer.hpp"

namespace steelyard {

kernels::AnyRule adam_rule(const OptimizerOptions& options, std::int64_t update) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  const auto count = static_cast<double>(update);
  return kernels::AdamRule{options.rate,
                           static_cast<float>(kBeta1),
                           static_cast<float>(kBeta2),
                           1e-8F,
                           static_cast<float>(1.0 - std::pow(kBeta1, count)),
                           static_cast<float>(1.0 - std::pow(kBeta2, count))};
}

}  // namespace steelyard
