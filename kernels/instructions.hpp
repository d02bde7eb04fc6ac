#pragma once

/// @file
/// Which instructions of the processor the kernels use. A build for one processor (STEELYARD_NATIVE, or any
/// other than x86-64) has one set; a general one has several and takes the best that runs here.

#include <cstddef>
#include <span>
#include <string_view>

namespace steelyard::kernels {

/// The sets of this build that run on this processor, the plainest first; at least one.
std::span<const std::string_view> instruction_sets();

/// The one in use; the last of instruction_sets() until another is asked for.
std::string_view instruction_set();

/// From now on that of `index` in instruction_sets(). Sizes of packed weights differ between sets: whatever
/// was allocated or packed before is of no use afterwards.
void use_instruction_set(std::size_t index);

}  // namespace steelyard::kernels
