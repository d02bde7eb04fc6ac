#pragma once

/// @file
/// Vectors as wide as the processor that the build is for. Wider ones than it has are cut up by the compiler
/// and spilled, so the width follows the instruction set.

#include <cstddef>

#include "kernels/convolution.hpp"

namespace steelyard::kernels {

#if defined(__AVX512F__)
inline constexpr std::size_t kLanes = 16;
#elif defined(__AVX__)
inline constexpr std::size_t kLanes = 8;
#else
inline constexpr std::size_t kLanes = 4;
#endif
static_assert(kRowElements % kLanes == 0);

using Vector [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using UnalignedVector
    [[gnu::vector_size(kLanes * sizeof(float)), gnu::aligned(alignof(float)), gnu::may_alias]] = float;

inline Vector load(const float* from) { return *reinterpret_cast<const UnalignedVector*>(from); }
inline void store(float* to, Vector value) { *reinterpret_cast<UnalignedVector*>(to) = value; }

}  // namespace steelyard::kernels
