#pragma once

/// @file
/// What `replay` does on a device. Tables are in its memory.

#include <cstdint>
#include <span>

#include "kernels/cuda/queue.hpp"
#include "kernels/pattern.hpp"

namespace steelyard::kernels {

/// to[n] = the pattern.
void fill(const Queue& queue, const Repeated& pattern, std::span<float> to);

/// to[n] = factor * from[n].
void scale(const Queue& queue, std::span<const float> from, float factor, std::span<float> to);

/// Where values[n] are not the pattern, bit for bit: *first = the least of it and tag + i.
void find_difference(const Queue& queue, const Repeated& pattern, std::span<const float> values,
                     std::uint64_t tag, std::uint64_t* first);

/// Takes that long and nothing else of the device than one thread.
void spin(const Queue& queue, std::uint64_t ns);

}  // namespace steelyard::kernels
