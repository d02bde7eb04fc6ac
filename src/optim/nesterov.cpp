#include "src/optim/optimizer.hpp"

namespace steelyard {

kernels::AnyRule nesterov_rule(const OptimizerOptions& options, std::int64_t) {
  return kernels::NesterovRule{options.rate, options.momentum};
}

}  // namespace steelyard
