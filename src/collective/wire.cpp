#include "src/collective/wire.hpp"

#include "kernels/convert.hpp"
#include "src/base/catalog.hpp"

namespace steelyard {
namespace {

constexpr Wire kWires[] = {
#define WIRE(name, help) Wire::name,
#include "src/collective/wires.def"
#undef WIRE
};
constexpr Choice<const Wire> kRows[] = {
#define WIRE(name, help) {#name, help, &kWires[static_cast<std::size_t>(Wire::name)]},
#include "src/collective/wires.def"
#undef WIRE
};

}  // namespace

Expected<Wire> find_wire(std::string_view name) {
  auto wire = choose<const Wire>("wire", kRows, name);
  if (!wire) return wire.error();
  return *wire.value();
}

std::string wire_help() { return help<const Wire>(kRows); }

void narrow(Wire wire, std::span<const float> from, std::span<std::uint16_t> to) {
  wire == Wire::fp16 ? kernels::to_half(from, to) : kernels::to_bfloat(from, to);
}

void widen(Wire wire, std::span<const std::uint16_t> from, std::span<float> to) {
  wire == Wire::fp16 ? kernels::from_half(from, to) : kernels::from_bfloat(from, to);
}

void add_widened(Wire wire, std::span<float> target, std::span<const std::uint16_t> from) {
  wire == Wire::fp16 ? kernels::add_half(target, from) : kernels::add_bfloat(target, from);
}

}  // namespace steelyard
