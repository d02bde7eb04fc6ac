#pragma once

/// @file
/// The type in which numbers travel between ranks. Sums are made in single precision whatever it is.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"

namespace steelyard {

enum class Wire : std::uint8_t {
#define WIRE(name, help) name,
#include "src/collective/wires.def"
#undef WIRE
};

/// @param name one of wires.def.
Expected<Wire> find_wire(std::string_view name);
std::string wire_help();

constexpr std::size_t wire_bytes(Wire wire) { return wire == Wire::fp32 ? 4 : 2; }

/// The conversions of a wire of 16 bits.
void narrow(Wire wire, std::span<const float> from, std::span<std::uint16_t> to);
void widen(Wire wire, std::span<const std::uint16_t> from, std::span<float> to);
/// target[n] += from[n].
void add_widened(Wire wire, std::span<float> target, std::span<const std::uint16_t> from);

}  // namespace steelyard
