#include "src/optim/optimizer.hpp"

namespace steelyard {

kernels::AnyRule momentum_rule(const OptimizerOptions& options, std::int64_t) {
  return kernels::MomentumRule{options.rate, options.momentum};
}

}  // namespace steelyard
