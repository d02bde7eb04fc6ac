#include "kernels/cuda/convert.hpp"

#include "kernels/cuda/launch.cuh"

namespace steelyard::kernels {
namespace {

constexpr std::size_t kWide = kAccessBytes / sizeof(std::uint16_t);

template <typename Functor, typename From, typename To>
struct ConvertBody {
  const From* from;
  To* to;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto in = load<N>(from + i);
    Pack<To, N> out;
    for (std::size_t k = 0; k < N; ++k) out.at[k] = Functor{}(in.at[k]);
    store(to + i, out);
  }
};

template <typename Functor>
struct AddBody {
  const std::uint16_t* from;
  float* to;

  template <std::size_t N>
  __device__ void at(std::size_t i) const {
    const auto in = load<N>(from + i);
    auto sum = load<N>(to + i);
    for (std::size_t k = 0; k < N; ++k) sum.at[k] += Functor{}(in.at[k]);
    store(to + i, sum);
  }
};

template <typename Functor, typename From, typename To>
void convert(const Queue& queue, const char* name, std::span<const From> from, std::span<To> to) {
  launch<kWide>(queue, name, from.size(), ConvertBody<Functor, From, To>{from.data(), to.data()}, from.data(),
                to.data());
}

template <typename Functor>
void add(const Queue& queue, const char* name, std::span<float> to, std::span<const std::uint16_t> from) {
  launch<kWide>(queue, name, from.size(), AddBody<Functor>{from.data(), to.data()}, from.data(), to.data());
}

}  // namespace

void to_half(const Queue& queue, std::span<const float> from, std::span<std::uint16_t> to) {
  convert<ToHalf>(queue, "to_half", from, to);
}

void from_half(const Queue& queue, std::span<const std::uint16_t> from, std::span<float> to) {
  convert<FromHalf>(queue, "from_half", from, to);
}

void to_bfloat(const Queue& queue, std::span<const float> from, std::span<std::uint16_t> to) {
  convert<ToBfloat>(queue, "to_bfloat", from, to);
}

void from_bfloat(const Queue& queue, std::span<const std::uint16_t> from, std::span<float> to) {
  convert<FromBfloat>(queue, "from_bfloat", from, to);
}

void add_half(const Queue& queue, std::span<float> target, std::span<const std::uint16_t> source) {
  add<FromHalf>(queue, "add_half", target, source);
}

void add_bfloat(const Queue& queue, std::span<float> target, std::span<const std::uint16_t> source) {
  add<FromBfloat>(queue, "add_bfloat", target, source);
}

}  // namespace steelyard::kernels
