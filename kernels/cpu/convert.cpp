#include "kernels/convert.hpp"

#include <cstddef>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace steelyard::kernels {
namespace {

template <typename Functor, typename From, typename To>
void convert(Functor functor, std::span<const From> from, std::span<To> to) {
  const From* __restrict source = from.data();
  To* __restrict target = to.data();
  for (std::size_t i = 0; i < from.size(); ++i) target[i] = functor(source[i]);
}

template <typename Functor>
void add(Functor functor, std::span<float> to, std::span<const std::uint16_t> from) {
  const std::uint16_t* __restrict source = from.data();
  float* __restrict target = to.data();
  for (std::size_t i = 0; i < from.size(); ++i) target[i] += functor(source[i]);
}

/// Elements that the processor's own instructions took; the rest is the functors'. Both give the same bits.
#if defined(__F16C__)
constexpr std::size_t kLanes = 8;

std::size_t by_instruction(std::span<const float> from, std::span<std::uint16_t> to) {
  std::size_t i = 0;
  for (; i + kLanes <= from.size(); i += kLanes)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to.data() + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from.data() + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}

template <bool kAdd>
std::size_t by_instruction(std::span<const std::uint16_t> from, std::span<float> to) {
  std::size_t i = 0;
  for (; i + kLanes <= from.size(); i += kLanes) {
    __m256 value = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from.data() + i)));
    if constexpr (kAdd) value = _mm256_add_ps(_mm256_loadu_ps(to.data() + i), value);
    _mm256_storeu_ps(to.data() + i, value);
  }
  return i;
}
#else
std::size_t by_instruction(std::span<const float>, std::span<std::uint16_t>) { return 0; }
template <bool>
std::size_t by_instruction(std::span<const std::uint16_t>, std::span<float>) {
  return 0;
}
#endif

}  // namespace

void to_half(std::span<const float> from, std::span<std::uint16_t> to) {
  const std::size_t done = by_instruction(from, to);
  convert(ToHalf{}, from.subspan(done), to.subspan(done));
}

void from_half(std::span<const std::uint16_t> from, std::span<float> to) {
  const std::size_t done = by_instruction<false>(from, to);
  convert(FromHalf{}, from.subspan(done), to.subspan(done));
}

void add_half(std::span<float> target, std::span<const std::uint16_t> source) {
  const std::size_t done = by_instruction<true>(source, target);
  add(FromHalf{}, target.subspan(done), source.subspan(done));
}

void to_bfloat(std::span<const float> from, std::span<std::uint16_t> to) { convert(ToBfloat{}, from, to); }

void from_bfloat(std::span<const std::uint16_t> from, std::span<float> to) {
  convert(FromBfloat{}, from, to);
}

void add_bfloat(std::span<float> target, std::span<const std::uint16_t> source) {
  add(FromBfloat{}, target, source);
}

}  // namespace steelyard::kernels
