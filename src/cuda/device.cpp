#include "src/cuda/device.hpp"

#include "cuda_build.hpp"
#include "src/cuda/check.cuh"

namespace steelyard::cuda {
namespace {

Error unusable(cudaError_t code, const std::string& call) {
  return Error{"no usable GPU: " + reason(code, call) +
               "; use --device cpu, or a machine whose driver is for " + std::string(kToolkit) + " or later"};
}

}  // namespace

std::string_view build_text() { return kBuildText; }

Expected<Device> take_device(int local_rank) {
  int visible = 0;
  // Where it fails it may leave the number as it was.
  if (const cudaError_t code = cudaGetDeviceCount(&visible); code != cudaSuccess)
    return unusable(code, "cudaGetDeviceCount");
  if (visible < 1) return unusable(cudaErrorNoDevice, "cudaGetDeviceCount");
  Device device;
  device.index = local_rank % visible;
  if (const cudaError_t code = cudaSetDevice(device.index); code != cudaSuccess)
    return unusable(code, "cudaSetDevice " + std::to_string(device.index));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device.index), "cudaGetDeviceProperties");
  device.name = properties.name;
  char bus[32] = {};
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device.index), "cudaDeviceGetPCIBusId");
  device.bus = bus;
  return device;
}

}  // namespace steelyard::cuda
