#pragma once

/// @file
/// What a server does with a gradient whose values have been updated since they were read. Pure decisions.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"

namespace steelyard::ps {

struct StalenessOptions {
  std::int64_t max_staleness = 8;  ///< drop: the most updates that a gradient may be late.
  double compensation = 0.04;      ///< compensate: lambda.
  bool recompute = false;          ///< A worker whose push was dropped makes it again from newer values.

  bool operator==(const StalenessOptions&) const = default;
};

/// What gradients have been good for so far: cosines with the mean of those applied, running means.
struct Worth {
  double of_this = 0.0;      ///< Of gradients as stale as this one.
  double error = 0.0;        ///< Standard error of that.
  double of_usual = 0.0;     ///< Of gradients as they usually come.
  double usual_age_s = 0.0;  ///< Mean time from read to apply.
  bool known = false;        ///< There have been enough gradients to say.
};

/// One push, as it is about to be applied. [n] elements each.
struct StaleGradient {
  std::int64_t staleness = 0;  ///< Updates applied between read and apply.
  double age_s = 0.0;          ///< Time between them.
  std::span<const float> gradient{};
  std::span<const float> now{};   ///< Present values.
  std::span<const float> read{};  ///< Values that the gradient is of; empty unless the policy needs them.
  Worth worth{};                  ///< All zero unless the policy needs it.
};

/// What to apply: nothing, or `gradient` with the optimizer's rate times `rate`.
struct Use {
  bool drop = false;
  float rate = 1.0F;
  std::span<const float> gradient{};
};

class StalenessPolicy {
 public:
  virtual ~StalenessPolicy() = default;
  /// @param scratch [n] for a gradient that differs from the one pushed.
  virtual Use use(const StaleGradient& push, std::span<float> scratch) const = 0;
  /// The server keeps the values that every worker has read: a copy of its parameters for each.
  virtual bool needs_values_read() const { return false; }
  /// The server keeps the mean of the gradients: a copy of its parameters.
  virtual bool needs_worth() const { return false; }
  virtual bool drops() const { return false; }
};

/// @param name one of stalenesses.def.
Expected<std::unique_ptr<StalenessPolicy>> make_staleness(std::string_view name,
                                                          const StalenessOptions& options = {});
std::string staleness_help();

}  // namespace steelyard::ps
