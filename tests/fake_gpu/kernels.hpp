#pragma once

/// @file
/// Kernels of every kind that the stand-in has to know, launched on the stream; pointers are of the device.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace steelyard::fake_gpu {

/// values[n] = rule(values[n]), a template over a type without linkage.
void launch_twice(cudaStream_t stream, std::size_t count, float* values);
/// values[n] += 1, no template.
void launch_increment(cudaStream_t stream, std::size_t count, int* values);
/// sums[block] = the sum of values[block][64], by threads that meet; those beyond `count` end before.
void launch_block_sums(cudaStream_t stream, unsigned blocks, const int* values, int* sums);
/// places[z][y][x] = where the thread is, for a grid of 2 x 3 x 2 blocks of 4 x 2 x 3 threads.
void launch_places(cudaStream_t stream, unsigned* places);
/// least = min(least, values[n]), count += 1, each for all n.
void launch_least(cudaStream_t stream, std::size_t count, const unsigned long long* values,
                  unsigned long long* least, unsigned* counted);
/// A configuration that no device takes.
void launch_too_many_threads(cudaStream_t stream, int* values);
/// *pointer = 5; the kernel's argument holds the pointer within a struct.
void launch_struct(cudaStream_t stream, int* pointer);

}  // namespace steelyard::fake_gpu
