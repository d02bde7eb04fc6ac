#pragma once

/// @file
/// Memory that a program gets from CUDA. It is host memory, but none of it is ever used twice: what is given
/// back, and what lies beyond the end, can be neither read nor written.

#include <cstddef>
#include <optional>

namespace steelyard::fake_gpu {

enum class Place { device, pinned };

struct Allocation {
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  Place place = Place::device;
  int device = 0;
  bool live = true;
};

/// @return on 256 bytes, filled with 0xff; null if the device has not enough left. `bytes` > 0.
void* allocate(Place place, int device, std::size_t bytes);
/// What is not the begin of a live allocation in that place is refused.
void release(const char* call, void* memory, Place place);
/// Bytes that the device has left.
std::size_t bytes_left(int device);

/// The allocation in which the address lies; one that was given back is refused.
std::optional<Allocation> allocation_of(const char* call, const void* address);
/// Refuses all but `bytes` of one live allocation on `device`.
void require_device(const char* call, const void* address, std::size_t bytes, int device);
/// Refuses more bytes than the allocation has from the address on.
void require_inside(const char* call, const Allocation& allocation, const void* address, std::size_t bytes);

}  // namespace steelyard::fake_gpu
