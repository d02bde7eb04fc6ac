#include "tests/fake_gpu/kernels.hpp"

namespace steelyard::fake_gpu {
namespace {

constexpr unsigned kThreads = 64;

unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

struct Twice {
  __host__ __device__ float operator()(float value) const { return 2.0F * value; }
};

template <typename Rule>
__global__ void __launch_bounds__(kThreads) apply(std::size_t count, Rule rule, float* values) {
  const std::size_t n = std::size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (n < count) values[n] = rule(values[n]);
}

__global__ void increment(std::size_t count, int* values) {
  const std::size_t n = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n < count) ++values[n];
}

__global__ void block_sums(const int* values, int* sums) {
  __shared__ int partial[kThreads];
  if (threadIdx.x >= kThreads) return;
  partial[threadIdx.x] = values[blockIdx.x * kThreads + threadIdx.x];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__global__ void places_of_threads(unsigned* places) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
  const unsigned width = gridDim.x * blockDim.x;
  const unsigned height = gridDim.y * blockDim.y;
  places[(z * height + y) * width + x] = 10000 * z + 100 * y + x;
}

__global__ void least_of(std::size_t count, const unsigned long long* values, unsigned long long* least,
                         unsigned* counted) {
  const std::size_t n = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n >= count) return;
  atomicMin(least, values[n]);
  atomicAdd(counted, 1U);
}

struct Inside {
  int* pointer;
  float rate;
};

__global__ void take(Inside inside) { *inside.pointer = 5; }

}  // namespace

void launch_twice(cudaStream_t stream, std::size_t count, float* values) {
  apply<<<blocks_for(count), kThreads, 0, stream>>>(count, Twice{}, values);
}

void launch_increment(cudaStream_t stream, std::size_t count, int* values) {
  increment<<<blocks_for(count), kThreads, 0, stream>>>(count, values);
}

void launch_block_sums(cudaStream_t stream, unsigned blocks, const int* values, int* sums) {
  block_sums<<<blocks, kThreads + 32, 0, stream>>>(values, sums);
}

void launch_places(cudaStream_t stream, unsigned* places) {
  places_of_threads<<<dim3(2, 3, 2), dim3(4, 2, 3), 0, stream>>>(places);
}

void launch_least(cudaStream_t stream, std::size_t count, const unsigned long long* values,
                  unsigned long long* least, unsigned* counted) {
  least_of<<<blocks_for(count), kThreads, 0, stream>>>(count, values, least, counted);
}

void launch_too_many_threads(cudaStream_t stream, int* values) {
  increment<<<1, 2048, 0, stream>>>(std::size_t{1}, values);
}

void launch_struct(cudaStream_t stream, int* pointer) { take<<<1, 1, 0, stream>>>(Inside{pointer, 0.5F}); }

}  // namespace steelyard::fake_gpu
