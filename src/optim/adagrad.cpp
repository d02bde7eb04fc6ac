#include "src/optim/optimizer.hpp"

namespace steelyard {

kernels::AnyRule adagrad_rule(const OptimizerOptions& options, std::int64_t) {
  return kernels::AdagradRule{options.rate, 1e-10F};
}

}  // namespace steelyard
