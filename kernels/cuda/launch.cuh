#pragma once

/// @file
/// How kernels go over elements: a thread moves 16 bytes of each array where all lie so, else one element.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/queue.hpp"

namespace steelyard::kernels {

inline constexpr unsigned kThreads = 256;
inline constexpr std::size_t kAccessBytes = 16;

/// N neighbours, which one instruction moves if they are 16 bytes.
template <typename T, std::size_t N>
struct alignas(N * sizeof(T) < kAccessBytes ? N * sizeof(T) : kAccessBytes) Pack {
  T at[N];
};

template <std::size_t N, typename T>
__device__ Pack<T, N> load(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

template <typename T, std::size_t N>
__device__ void store(T* to, const Pack<T, N>& pack) {
  *reinterpret_cast<Pack<T, N>*>(to) = pack;
}

inline unsigned blocks_for(std::size_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

/// CUDA remembers why a launch was refused.
inline void check_launch(const Queue& queue, const char* kernel) {
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    queue.fail(kernel, cudaGetErrorString(code));
}

/// body.at<N>(i) does elements i to i + N - 1; what is left of `count` are threads of their own.
template <std::size_t N, typename Body>
__global__ void __launch_bounds__(kThreads) over_packs(std::size_t count, Body body) {
  const std::size_t thread = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  const std::size_t packs = count / N;
  if (thread < packs) return body.template at<N>(thread * N);
  const std::size_t rest = packs * N + (thread - packs);
  if (rest < count) body.template at<1>(rest);
}

template <std::size_t N, typename Body>
void launch_packs(const Queue& queue, const char* name, std::size_t count, const Body& body) {
  const std::size_t threads = count / N + count % N;
  if (threads == 0) return;
  over_packs<N><<<blocks_for(threads), kThreads, 0, queue.stream>>>(count, body);
  check_launch(queue, name);
}

template <typename... T>
bool aligned(const T*... arrays) {
  return ((reinterpret_cast<std::uintptr_t>(arrays) % kAccessBytes == 0) && ...);
}

/// N elements of each of `arrays` at a time if they are aligned, else one.
template <std::size_t N, typename Body, typename... T>
void launch(const Queue& queue, const char* name, std::size_t count, const Body& body, const T*... arrays) {
  if (aligned(arrays...))
    launch_packs<N>(queue, name, count, body);
  else
    launch_packs<1>(queue, name, count, body);
}

}  // namespace steelyard::kernels
