#include "kernels/cuda/pattern.hpp"

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {
namespace {

struct FillBody {
  Repeated pattern;
  float* to;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    Pack<float, N> values;
    for (std::size_t k = 0; k < N; ++k) values.at[k] = pattern(i + k);
    store(to + i, values);
  }
};

struct ScaleBody {
  const float* from;
  float factor;
  float* to;

  template <std::size_t>
  __device__ void at(std::size_t i) const {
    to[i] = factor * from[i];
  }
};

struct DifferenceBody {
  Repeated pattern;
  const float* values;
  std::uint64_t tag;
  std::uint64_t* first;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
    const auto found = load<N>(values + i);
    for (std::size_t k = 0; k < N; ++k)
      if (__float_as_uint(found.at[k]) != __float_as_uint(pattern(i + k)))
        atomicMin(reinterpret_cast<unsigned long long*>(first), tag + i + k);
  }
};

__device__ std::uint64_t device_time_ns() {
  std::uint64_t ns = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void spin_for(std::uint64_t ns) {
  constexpr unsigned kNapNs = 1000;
  const std::uint64_t begin = device_time_ns();
  while (device_time_ns() - begin < ns) __nanosleep(kNapNs);
}

}  // namespace

void fill(const Queue& queue, const Repeated& pattern, std::span<float> to) {
  launch<4>(queue, "fill", to.size(), FillBody{pattern, to.data()}, to.data());
}

void scale(const Queue& queue, std::span<const float> from, float factor, std::span<float> to) {
  launch_packs<1>(queue, "scale", to.size(), ScaleBody{from.data(), factor, to.data()});
}

void find_difference(const Queue& queue, const Repeated& pattern, std::span<const float> values,
                     std::uint64_t tag, std::uint64_t* first) {
  launch<4>(queue, "find_difference", values.size(), DifferenceBody{pattern, values.data(), tag, first},
            values.data());
}

void spin(const Queue& queue, std::uint64_t ns) {
  if (ns == 0) return;
  spin_for<<<1, 1, 0, queue.stream>>>(ns);
  check_launch(queue, "spin");
}

}  // namespace steelyard::kernels
