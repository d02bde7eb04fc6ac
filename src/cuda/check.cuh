#pragma once

/// @file
/// Failed calls of CUDA's runtime end the job; for sources that see CUDA.

#include <cuda_runtime.h>

#include <string>

#include "src/base/check.hpp"

namespace steelyard::cuda {

/// "out of memory (cudaMalloc of 4096 bytes: error 2)"
inline std::string reason(cudaError_t code, const std::string& call) {
  return std::string(cudaGetErrorString(code)) + " (" + call + ": error " +
         std::to_string(static_cast<int>(code)) + ")";
}

/// @param call as it stands in CUDA's documents, with what tells it from others.
inline void check(cudaError_t code, const std::string& call, Where where = {}) {
  if (code != cudaSuccess) die("CUDA: " + reason(code, call), where);
}

}  // namespace steelyard::cuda
