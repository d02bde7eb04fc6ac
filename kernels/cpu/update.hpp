#pragma once

/// @file
/// Applies a rule of kernels/update.hpp to whole arrays on the CPU.

#include "kernels/update.hpp"

namespace steelyard::kernels {

/// to[i] = rule(from[i], gradient[i], state of i) for every rule of rules.def.
#define RULE(Rule) void update(const Rule& rule, const UpdateArrays& arrays);
#include "kernels/rules.def"
#undef RULE

}  // namespace steelyard::kernels
