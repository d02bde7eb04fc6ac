#include "kernels/cuda/elementwise.hpp"

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {
namespace {

struct AddBody {
  const float* first;
  const float* second;
  float* to;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto a = load<N>(first + i);
    const auto b = load<N>(second + i);
    Pack<float, N> sum;
    for (std::size_t k = 0; k < N; ++k) sum.at[k] = Sum{}(a.at[k], b.at[k]);
    store(to + i, sum);
  }
};

struct NormaliseBody {
  Normal normal;
  const std::uint8_t* from;
  float* to;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto pixels = load<N>(from + i);
    Pack<float, N> values;
    for (std::size_t k = 0; k < N; ++k) values.at[k] = normal(pixels.at[k]);
    store(to + i, values);
  }
};

}  // namespace

void add(const Queue& queue, std::span<float> target, std::span<const float> source) {
  add(queue, target, target, source);
}

void add(const Queue& queue, std::span<float> target, std::span<const float> first,
         std::span<const float> second) {
  launch<4>(queue, "add", target.size(), AddBody{first.data(), second.data(), target.data()}, first.data(),
            second.data(), target.data());
}

void normalise(const Queue& queue, std::span<const std::uint8_t> pixels, float mean, float deviation,
               std::span<float> values) {
  // 16 bytes on the wider side.
  launch<4>(queue, "normalise", pixels.size(),
            NormaliseBody{Normal(mean, deviation), pixels.data(), values.data()}, pixels.data(),
            values.data());
}

}  // namespace steelyard::kernels
