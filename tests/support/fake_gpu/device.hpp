#pragma once

/// @file
/// Which device a thread uses, whether it is still there, and the last error of a thread.

#include <cuda_runtime_api.h>

namespace steelyard::fake_gpu {

int current_device();

/// Keeps an error for cudaGetLastError. @return the error.
cudaError_t fail(cudaError_t error);

bool device_lost();
/// For what the fault device_lost counts. @return cudaSuccess, or what every call gives once it is lost.
cudaError_t try_device();
/// @return cudaSuccess, or what every call gives once the device is lost.
cudaError_t health();

}  // namespace steelyard::fake_gpu
