#pragma once

/// @file
/// An optimizer is a rule for one run of elements at a time, so a server and a worker use the same one on
/// whatever they own. It holds no arrays; who owns the values owns the state.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "kernels/update.hpp"
#include "src/base/expected.hpp"
#include "src/base/types.hpp"

namespace steelyard {

struct OptimizerOptions {
  float rate = 0.02F;
  float momentum = 0.9F;  ///< momentum and nesterov only.
};

/// One update of n elements.
struct Update {
  std::span<const float> from;      ///< [n] values before.
  std::span<const float> gradient;  ///< [n]
  std::span<float> to;              ///< [n] values after; `from` itself, or apart from it.
  std::span<float> state;           ///< [n x state_per_element()], zero before the first update.
  std::int64_t count = 1;           ///< Which update of these elements this is, from 1.
  float rate = 1.0F;                ///< Times the optimizer's own.
};

/// The rule of update number `update` of some elements, from 1; @param options whose rate is that of the
/// update.
using MakeRule = kernels::AnyRule(const OptimizerOptions& options, std::int64_t update);

class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, MakeRule* make);

  std::size_t state_per_element() const { return state_per_element_; }
  /// @param rate times the optimizer's own.
  kernels::AnyRule rule(std::int64_t update, float rate = 1.0F) const {
    return make_({options_.rate * rate, options_.momentum}, update);
  }
  /// On the CPU.
  void apply(const Update& update) const;

 private:
  OptimizerOptions options_;
  MakeRule* make_;
  std::size_t state_per_element_;
};

/// @param name one of optimizers.def.
Expected<std::unique_ptr<Optimizer>> make_optimizer(std::string_view name, const OptimizerOptions& options);
std::string optimizer_help();

}  // namespace steelyard
