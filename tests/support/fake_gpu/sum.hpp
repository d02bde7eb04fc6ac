#pragma once

#include <nccl.h>

#include <cstddef>

namespace steelyard::fake_gpu {

/// target[n] += source[n], rounded to the type; a type without sum is refused.
void add(ncclDataType_t type, std::byte* target, const std::byte* source, std::size_t count);

}  // namespace steelyard::fake_gpu
