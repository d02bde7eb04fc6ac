#pragma once

/// @file
/// Applies a rule of kernels/update.hpp to whole arrays on the CPU.

#include <cstddef>

#include "kernels/update.hpp"

namespace steelyard::kernels {

struct UpdateArrays {
  std::size_t n = 0;
  const float* from = nullptr;      ///< [n] values before.
  const float* gradient = nullptr;  ///< [n]
  float* to = nullptr;              ///< [n] values after; `from` itself, or apart from it.
  float* state = nullptr;           ///< As many arrays [n] as the rule keeps, one behind the other.
};

/// to[i] = rule(from[i], gradient[i], state of i) for every rule of rules.def.
#define RULE(Rule) void update(const Rule& rule, const UpdateArrays& arrays);
#include "kernels/rules.def"
#undef RULE

}  // namespace steelyard::kernels
