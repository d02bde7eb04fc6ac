#pragma once

/// @file
/// Optimizer rules: one element each, the same functor for CPU and GPU. `w` is the value before, the result
/// the value after, `g` the gradient, `m` and `v` state that is kept between calls.

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <variant>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

struct SgdRule {
  float rate;
  STEELYARD_HOST_DEVICE float operator()(float w, float g) const { return w - rate * g; }
};

/// v = momentum v + g; w -= rate v (Sutskever et al. 2013 in PyTorch's form).
struct MomentumRule {
  float rate;
  float momentum;
  STEELYARD_HOST_DEVICE float operator()(float w, float g, float& v) const {
    v = momentum * v + g;
    return w - rate * v;
  }
};

/// v = momentum v + g; w -= rate (g + momentum v).
struct NesterovRule {
  float rate;
  float momentum;
  STEELYARD_HOST_DEVICE float operator()(float w, float g, float& v) const {
    v = momentum * v + g;
    return w - rate * (g + momentum * v);
  }
};

/// v += g^2; w -= rate g / (sqrt(v) + epsilon) (Duchi, Hazan, Singer 2011).
struct AdagradRule {
  float rate;
  float epsilon;
  STEELYARD_HOST_DEVICE float operator()(float w, float g, float& v) const {
    v += g * g;
    return w - rate * g / (std::sqrt(v) + epsilon);
  }
};

/// Kingma and Ba 2015, algorithm 1. `correction1` = 1 - beta1^t, `correction2` = 1 - beta2^t.
struct AdamRule {
  float rate;
  float beta1;
  float beta2;
  float epsilon;
  float correction1;
  float correction2;
  STEELYARD_HOST_DEVICE float operator()(float w, float g, float& m, float& v) const {
    m = beta1 * m + (1.0F - beta1) * g;
    v = beta2 * v + (1.0F - beta2) * g * g;
    return w - rate * (m / correction1) / (std::sqrt(v / correction2) + epsilon);
  }
};

/// Floats of state that a rule keeps for each element.
template <typename Rule>
inline constexpr std::size_t kStateOf = std::is_invocable_v<const Rule&, float, float>           ? 0
                                        : std::is_invocable_v<const Rule&, float, float, float&> ? 1
                                                                                                 : 2;

template <typename, typename... Rules>
using OneOf = std::variant<Rules...>;
using AnyRule = OneOf<void
#define RULE(Rule) , Rule
#include "kernels/rules.def"
#undef RULE
                      >;

/// What a rule is applied to.
struct UpdateArrays {
  std::size_t n = 0;
  const float* from = nullptr;      ///< [n] values before.
  const float* gradient = nullptr;  ///< [n]
  float* to = nullptr;              ///< [n] values after; `from` itself, or apart from it.
  float* state = nullptr;           ///< As many arrays [n] as the rule keeps, one behind the other.
};

}  // namespace steelyard::kernels
