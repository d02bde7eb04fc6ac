#include "tests/support/fake_gpu/device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/support/fake_gpu/faults.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/refuse.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {
namespace {

thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;
std::atomic<bool> lost = false;

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};
/// Those that this library gives; the words are the runtime's own.
constexpr std::array kErrors = {
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
};

const ErrorText& words(cudaError_t code) {
  const auto* found = std::ranges::find(kErrors, code, &ErrorText::code);
  if (found == kErrors.end())
    refuse("the text of error " + std::to_string(static_cast<int>(code)) +
           " is asked for, which is never given");
  return *found;
}

bool is_device(int device) { return device >= 0 && device < devices(); }

}  // namespace

int current_device() { return current; }

cudaError_t fail(cudaError_t error) { return last_error = error; }

bool device_lost() { return lost; }

cudaError_t health() { return lost ? fail(cudaErrorLaunchFailure) : cudaSuccess; }

cudaError_t try_device() {
  if (strikes(Fault::device_lost)) lost = true;
  return health();
}

}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;

FAKE_GPU_API cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaGetDeviceCount(int* count) {
  if (fake::devices() == 0) return fake::fail(cudaErrorNoDevice);  // As the runtime, it leaves `count` alone.
  *count = fake::devices();
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaSetDevice(int device) {
  if (!fake::is_device(device)) return fake::fail(cudaErrorInvalidDevice);
  fake::current = device;
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaGetDevice(int* device) {
  *device = fake::current;
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!fake::is_device(device)) return fake::fail(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "Stand-in for a GPU");
  properties->totalGlobalMem = fake::device_memory();
  properties->major = 9;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->multiProcessorCount = 1;
  properties->pciBusID = device + 1;
  properties->asyncEngineCount = 2;
  properties->unifiedAddressing = 1;
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  if (!fake::is_device(device)) return fake::fail(cudaErrorInvalidDevice);
  const int needed = std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", device + 1);
  return needed < size ? cudaSuccess : fake::fail(cudaErrorInvalidValue);
}

FAKE_GPU_API cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t code = cudaGetDeviceProperties(&properties, device); code != cudaSuccess) return code;
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      break;
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      break;
    default:
      fake::refuse("cudaDeviceGetAttribute of " + std::to_string(attribute) +
                   ", which this library does not stand in for");
  }
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

FAKE_GPU_API cudaError_t cudaMemGetInfo(std::size_t* left, std::size_t* total) {
  *left = fake::bytes_left(fake::current);
  *total = fake::device_memory();
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaDeviceSynchronize() {
  fake::finish_device(fake::current);
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaGetLastError() {
  const cudaError_t error = fake::last_error;
  fake::last_error = cudaSuccess;
  return error;
}

FAKE_GPU_API cudaError_t cudaPeekAtLastError() { return fake::last_error; }
FAKE_GPU_API const char* cudaGetErrorName(cudaError_t code) { return fake::words(code).name; }
FAKE_GPU_API const char* cudaGetErrorString(cudaError_t code) { return fake::words(code).text; }
