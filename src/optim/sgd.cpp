#include "src/optim/optimizer.hpp"

namespace steelyard {

kernels::AnyRule sgd_rule(const OptimizerOptions& options, std::int64_t) {
  return kernels::SgdRule{options.rate};
}

}  // namespace steelyard
