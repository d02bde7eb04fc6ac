#pragma once

/// @file
/// Vectors of 4, 8 or 16 floats, at most as wide as the processor that the build is for: wider ones are cut
/// up by the compiler and spilled.

#include <cstddef>
#include <cstdint>

namespace steelyard::kernels {

#if defined(__AVX512F__)
inline constexpr std::size_t kWidestLanes = 16;
#elif defined(__AVX__)
inline constexpr std::size_t kWidestLanes = 8;
#else
inline constexpr std::size_t kWidestLanes = 4;
#endif

template <std::size_t kLanes>
struct Lanes {
  typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));
  typedef std::int32_t Integers __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
  typedef std::uint8_t Bytes __attribute__((vector_size(kLanes)));
  typedef float Unaligned
      __attribute__((vector_size(kLanes * sizeof(float)), aligned(alignof(float)), may_alias));

  static Floats load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void store(float* to, Floats value) { *reinterpret_cast<Unaligned*>(to) = value; }
};

/// The vectors to take for `elements` that lie behind each other: the narrowest that holds them all, or the
/// widest there is.
constexpr std::size_t lanes_for(std::size_t elements) {
  std::size_t lanes = 4;
  while (lanes < elements && lanes < kWidestLanes) lanes *= 2;
  return lanes;
}

/// Calls visit.template operator()<lanes>() for lanes_for(elements).
template <typename Visit>
void with_lanes_for(std::size_t elements, Visit&& visit) {
  const std::size_t lanes = lanes_for(elements);
  if constexpr (kWidestLanes >= 16)
    if (lanes == 16) return visit.template operator()<16>();
  if constexpr (kWidestLanes >= 8)
    if (lanes == 8) return visit.template operator()<8>();
  visit.template operator()<4>();
}

}  // namespace steelyard::kernels
