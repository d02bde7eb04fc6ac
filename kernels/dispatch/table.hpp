#pragma once

/// @file
/// The kernels compiled for one instruction set, as pointers. kernels/CMakeLists.txt compiles kernels/cpu and
/// table.cpp once per set, joins the objects and hides every symbol but the table, so that neither a kernel
/// nor an inline function of a header can be taken from there for the rest of the program.

#include "kernels/convert.hpp"
#include "kernels/convolution.hpp"
#include "kernels/cpu/update.hpp"
#include "kernels/dense.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/gemm.hpp"
#include "kernels/sigmoid.hpp"
#include "kernels/softmax.hpp"

#define STEELYARD_JOIN_(a, b) a##b
#define STEELYARD_JOIN(a, b) STEELYARD_JOIN_(a, b)
/// The member for the line of the .def table at hand: overloads share a name but no line.
#define STEELYARD_MEMBER(name) STEELYARD_JOIN(name##_, __LINE__)

namespace steelyard::kernels {

struct KernelTable {
#define KERNEL(result, name, parameters, arguments) result(*STEELYARD_MEMBER(name)) parameters;
#include "kernels/dispatch/kernels.def"
#undef KERNEL
};

#define INSTRUCTION_SET(symbol, name, runs_here) extern "C" const KernelTable steelyard_kernels_##symbol;
#include "kernels/dispatch/instruction_sets.def"
#undef INSTRUCTION_SET

}  // namespace steelyard::kernels
