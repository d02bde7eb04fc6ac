#pragma once

/// @file
/// FNV-1a, 64 bits (Fowler, Noll, Vo): identifies the final parameters in a trace. Not cryptographic.

#include <cstddef>
#include <cstdint>
#include <span>

namespace steelyard {

class Fnv1a {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) state_ = (state_ ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325U;
};

}  // namespace steelyard
