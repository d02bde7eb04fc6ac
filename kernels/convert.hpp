#pragma once

/// @file
/// float to and from 16 bit: IEEE 754 binary16 ("half") and bfloat16. Rounds to nearest, ties to even; beyond
/// the largest number it becomes infinite; a NaN stays one (quiet, sign and leading payload kept). The
/// functor is one element's conversion, the same for CPU and GPU.

#include <bit>
#include <cstdint>
#include <span>

#include "kernels/host_device.hpp"

namespace steelyard::kernels {

struct ToHalf {
  STEELYARD_HOST_DEVICE std::uint16_t operator()(float value) const {
    constexpr std::uint32_t kInfinity = 0x7f800000U;
    constexpr std::uint32_t kOverflow = 0x477ff000U;  ///< 65520, which rounds to infinity.
    constexpr std::uint32_t kNormal = 0x38800000U;    ///< 2^-14
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16U & 0x8000U;
    const std::uint32_t size = bits & 0x7fffffffU;
    // At 0.5 the last bit of a float is worth 2^-24, that of a half below 2^-14: the addition rounds.
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(size < kNormal ? size : 0U) + 0.5F) - 0x3f000000U;
    const std::uint32_t normal = (size - 0x38000000U + 0xfffU + (size >> 13U & 1U)) >> 13U;
    const std::uint32_t nan = 0x7e00U | (size >> 13U & 0x3ffU);
    const std::uint32_t large = size > kInfinity ? nan : 0x7c00U;
    return static_cast<std::uint16_t>(sign | (size >= kOverflow ? large : size < kNormal ? small : normal));
  }
};

struct FromHalf {
  STEELYARD_HOST_DEVICE float operator()(std::uint16_t half) const {
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    const std::uint32_t size = half & 0x7fffU;
    const std::uint32_t small =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<int>(size)) * 0x1p-24F);
    const std::uint32_t normal = (size << 13U) + 0x38000000U;
    const std::uint32_t quiet = size > 0x7c00U ? 0x400000U : 0U;
    const std::uint32_t large = ((size << 13U) + 0x70000000U) | quiet;
    return std::bit_cast<float>(sign | (size >= 0x7c00U ? large : size < 0x400U ? small : normal));
  }
};

struct ToBfloat {
  STEELYARD_HOST_DEVICE std::uint16_t operator()(float value) const {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16U & 1U);
    const std::uint32_t nan = bits | 0x400000U;
    return static_cast<std::uint16_t>(((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded) >> 16U);
  }
};

struct FromBfloat {
  STEELYARD_HOST_DEVICE float operator()(std::uint16_t value) const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
  }
};

/// to[n] = from[n].
void to_half(std::span<const float> from, std::span<std::uint16_t> to);
void from_half(std::span<const std::uint16_t> from, std::span<float> to);
void to_bfloat(std::span<const float> from, std::span<std::uint16_t> to);
void from_bfloat(std::span<const std::uint16_t> from, std::span<float> to);

/// target[n] += source[n], in single precision.
void add_half(std::span<float> target, std::span<const std::uint16_t> source);
void add_bfloat(std::span<float> target, std::span<const std::uint16_t> source);

}  // namespace steelyard::kernels
