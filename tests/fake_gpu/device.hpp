#pragma once

/// @file
/// What the tests of the stand-in have in common: checked calls, memory with values, a gate that holds a
/// stream.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <memory>
#include <span>
#include <vector>

#define EXPECT_CUDA(call) EXPECT_EQ(call, cudaSuccess)

namespace steelyard::fake_gpu {

inline cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

inline cudaEvent_t new_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, flags));
  return event;
}

template <typename T>
T* on_device(std::span<const T> values) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(&memory, values.size_bytes()));
  EXPECT_CUDA(cudaMemcpy(memory, values.data(), values.size_bytes(), cudaMemcpyHostToDevice));
  return static_cast<T*>(memory);
}

template <typename T>
T* on_device(const std::vector<T>& values) {
  return on_device(std::span<const T>(values));
}

/// @return values[count] when all of the device is done.
template <typename T>
std::vector<T> on_host(const T* memory, std::size_t count) {
  EXPECT_CUDA(cudaDeviceSynchronize());
  std::vector<T> values(count);
  EXPECT_CUDA(cudaMemcpy(values.data(), memory, count * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

/// @return pinned, values[count].
inline int* pinned(std::size_t count, int value) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaMallocHost(&memory, count * sizeof(int)));
  std::fill_n(static_cast<int*>(memory), count, value);
  return static_cast<int*>(memory);
}

/// What is queued behind it on the stream waits until it is opened.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) {
    const auto wait = [](void* data) {
      const std::unique_ptr<std::future<void>> opened(static_cast<std::future<void>*>(data));
      opened->wait();
    };
    EXPECT_CUDA(cudaLaunchHostFunc(stream, wait, new std::future<void>(opened_.get_future())));
  }
  void open() { opened_.set_value(); }

 private:
  std::promise<void> opened_;
};

}  // namespace steelyard::fake_gpu
