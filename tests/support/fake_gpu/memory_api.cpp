#include <cuda_runtime_api.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/support/fake_gpu/device.hpp"
#include "tests/support/fake_gpu/memory.hpp"
#include "tests/support/fake_gpu/refuse.hpp"
#include "tests/support/fake_gpu/stream.hpp"

namespace steelyard::fake_gpu {
namespace {

cudaError_t allocate_for(void** memory, Place place, std::size_t bytes) {
  *memory = nullptr;
  if (const cudaError_t code = health(); code != cudaSuccess || bytes == 0) return code;
  *memory = allocate(place, current_device(), bytes);
  return *memory != nullptr ? cudaSuccess : fail(cudaErrorMemoryAllocation);
}

/// Waits for what may still use it, as CUDA does.
cudaError_t release_after_use(const char* call, void* memory, Place place) {
  if (memory == nullptr) return health();
  if (const auto allocation = allocation_of(call, memory)) finish_device(allocation->device);
  release(call, memory, place);
  return health();
}

enum class Side { pageable, pinned, device };

/// Refuses what lies beyond its allocation, and memory of a device other than that of the stream.
Side side_of(const char* call, const void* address, std::size_t bytes, const Stream& stream) {
  const auto allocation = allocation_of(call, address);
  if (!allocation) return Side::pageable;
  if (allocation->place == Place::device) {
    require_device(call, address, bytes, stream.device());
    return Side::device;
  }
  require_inside(call, *allocation, address, bytes);
  return Side::pinned;
}

cudaMemcpyKind kind_between(Side to, Side from) {
  if (to == Side::device) return from == Side::device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  return from == Side::device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  cudaMemcpyKind kind;
};

/// Of pageable memory, CUDA reads a source before it returns, and fills a target before it returns.
cudaError_t queue_copy(const char* call, const Copy& copy, Stream& stream) {
  if (copy.bytes == 0) return health();
  const Side to = side_of(call, copy.to, copy.bytes, stream);
  const Side from = side_of(call, copy.from, copy.bytes, stream);
  if (copy.kind != cudaMemcpyDefault && copy.kind != kind_between(to, from))
    refuse(std::string(call) + " of kind " + std::to_string(copy.kind) + " from " + text_of(copy.from) +
           " to " + text_of(copy.to) + ", between which it is of kind " +
           std::to_string(kind_between(to, from)));
  if (const cudaError_t code = try_device(); code != cudaSuccess) return code;
  if (from == Side::pageable) {
    const auto* begin = static_cast<const std::byte*>(copy.from);
    const auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + copy.bytes);
    stream.push([copy, staged] { std::memcpy(copy.to, staged->data(), copy.bytes); });
  } else {
    stream.push([copy] { std::memcpy(copy.to, copy.from, copy.bytes); });
  }
  if (to == Side::pageable) stream.queue().finish();
  return health();
}

cudaError_t queue_fill(const char* call, void* memory, int value, std::size_t bytes, Stream& stream) {
  if (bytes == 0) return health();
  require_device(call, memory, bytes, stream.device());
  if (const cudaError_t code = try_device(); code != cudaSuccess) return code;
  stream.push([=] { std::memset(memory, value, bytes); });
  return health();
}

}  // namespace
}  // namespace steelyard::fake_gpu

namespace fake = steelyard::fake_gpu;
using fake::Place;

FAKE_GPU_API cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return fake::allocate_for(memory, Place::device, bytes);
}

FAKE_GPU_API cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return fake::allocate_for(memory, Place::pinned, bytes);
}

FAKE_GPU_API cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return fake::allocate_for(memory, Place::pinned, bytes);
}

FAKE_GPU_API cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  fake::stream_of("cudaMallocAsync", stream);
  return fake::allocate_for(memory, Place::device, bytes);
}

FAKE_GPU_API cudaError_t cudaFree(void* memory) {
  return fake::release_after_use("cudaFree", memory, Place::device);
}

FAKE_GPU_API cudaError_t cudaFreeHost(void* memory) {
  return fake::release_after_use("cudaFreeHost", memory, Place::pinned);
}

FAKE_GPU_API cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  fake::stream_of("cudaFreeAsync", stream)->queue().push([=] {
    fake::release("cudaFreeAsync", memory, Place::device);
  });
  return fake::health();
}

FAKE_GPU_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                         cudaStream_t stream) {
  return fake::queue_copy("cudaMemcpyAsync", {to, from, bytes, kind},
                          *fake::stream_of("cudaMemcpyAsync", stream));
}

/// The host waits, but for copies within a device.
FAKE_GPU_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const auto stream = fake::stream_of("cudaMemcpy", nullptr);
  const cudaError_t code = fake::queue_copy("cudaMemcpy", {to, from, bytes, kind}, *stream);
  const auto place = [](const void* address) {
    const auto allocation = fake::allocation_of("cudaMemcpy", address);
    return allocation ? allocation->place : Place::pinned;
  };
  if (place(to) != Place::device || place(from) != Place::device) stream->queue().finish();
  return code;
}

FAKE_GPU_API cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return fake::queue_fill("cudaMemsetAsync", memory, value, bytes,
                          *fake::stream_of("cudaMemsetAsync", stream));
}

/// The host does not wait.
FAKE_GPU_API cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return fake::queue_fill("cudaMemset", memory, value, bytes, *fake::stream_of("cudaMemset", nullptr));
}

FAKE_GPU_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const auto allocation = fake::allocation_of("cudaPointerGetAttributes", address);
  *attributes = {};
  attributes->device = allocation ? allocation->device : -1;
  if (!allocation) return cudaSuccess;  // cudaMemoryTypeUnregistered is 0.
  attributes->type = allocation->place == Place::device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->devicePointer = const_cast<void*>(address);
  if (allocation->place == Place::pinned) attributes->hostPointer = const_cast<void*>(address);
  return cudaSuccess;
}
