#pragma once

#include "kernels/cuda/queue.hpp"
#include "kernels/update.hpp"

namespace steelyard::kernels {

/// As of kernels/cpu/update.hpp, in one pass. No product and sum are contracted, so that an element has the
/// same bits wherever it lies in an array, and those of a processor that does not contract them either.
#define RULE(Rule) void update(const Queue& queue, const Rule& rule, const UpdateArrays& arrays);
#include "kernels/rules.def"
#undef RULE

}  // namespace steelyard::kernels
