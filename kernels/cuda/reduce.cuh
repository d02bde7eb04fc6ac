#pragma once

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {

/// The sum over all threads of a block, for all of them; as a tree, so in the same order every time.
template <typename T>
__device__ T block_sum(T mine) {
  __shared__ T partial[kThreads];
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  const T sum = partial[0];
  __syncthreads();  // The next sum uses the same memory.
  return sum;
}

/// sums[block] = the sum of term(block, i) over i < items.
template <typename Term>
__global__ void __launch_bounds__(kThreads) sum_per_block(std::size_t items, Term term, float* sums) {
  float mine = 0.0F;
  for (std::size_t i = threadIdx.x; i < items; i += kThreads) mine += term(blockIdx.x, i);
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

template <typename Term>
void launch_sums(const Queue& queue, const char* name, std::size_t count, std::size_t items, const Term& term,
                 float* sums) {
  sum_per_block<<<static_cast<unsigned>(count), kThreads, 0, queue.stream>>>(items, term, sums);
  check_launch(queue, name);
}

}  // namespace steelyard::kernels
