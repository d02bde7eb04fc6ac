#include "src/cuda/buffer.hpp"

#include <cstring>

#include "src/cuda/check.cuh"

namespace steelyard::cuda {
namespace {

std::string of_bytes(const char* call, std::size_t bytes) {
  return std::string(call) + " of " + std::to_string(bytes) + " bytes";
}

}  // namespace

void FreeDevice::operator()(void* memory) const { check(cudaFree(memory), "cudaFree"); }
void FreePinned::operator()(void* memory) const { check(cudaFreeHost(memory), "cudaFreeHost"); }

std::unique_ptr<void, FreeDevice> allocate_device(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), of_bytes("cudaMalloc", bytes));
  std::unique_ptr<void, FreeDevice> owned(memory);
  // Streams of ours do not wait for the default one.
  check(cudaMemset(memory, 0, bytes), of_bytes("cudaMemset", bytes));
  check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
  return owned;
}

std::unique_ptr<void, FreePinned> allocate_pinned(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), of_bytes("cudaMallocHost", bytes));
  std::memset(memory, 0, bytes);
  return std::unique_ptr<void, FreePinned>(memory);
}

void copy_bytes(const Stream& stream, std::span<const std::byte> from, std::span<std::byte> to) {
  require(from.size() == to.size(), "a copy has as many elements as its source");
  if (from.empty()) return;
  check(cudaMemcpyAsync(to.data(), from.data(), from.size(), cudaMemcpyDefault, stream.handle()),
        of_bytes("cudaMemcpyAsync", from.size()));
}

}  // namespace steelyard::cuda
