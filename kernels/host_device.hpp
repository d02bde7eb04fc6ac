#pragma once

/// @file
/// STEELYARD_HOST_DEVICE marks a functor that runs on CPU and GPU alike. STEELYARD_INDEPENDENT before a loop
/// says that its iterations touch different elements, so that it may be vectorised.

#if defined(__CUDACC__)
#define STEELYARD_HOST_DEVICE __host__ __device__
#else
#define STEELYARD_HOST_DEVICE
#endif

#if defined(__clang__)
#define STEELYARD_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define STEELYARD_INDEPENDENT _Pragma("GCC ivdep")
#endif
