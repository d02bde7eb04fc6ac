// Where a build has one instruction set, kernels/cpu defines the public kernels itself.
#include <array>

#include "kernels/instructions.hpp"

namespace steelyard::kernels {
namespace {
constexpr std::array<std::string_view, 1> kOnly{STEELYARD_ONLY_SET};
}

std::span<const std::string_view> instruction_sets() { return kOnly; }
std::string_view instruction_set() { return kOnly.front(); }
void use_instruction_set(std::size_t) {}

}  // namespace steelyard::kernels
