#pragma once

/// @file
/// Zeroed arrays in the memory of the device, and in memory of the host that the device can reach while both
/// work ("pinned").

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "src/cuda/stream.hpp"

namespace steelyard::cuda {

struct FreeDevice {
  void operator()(void* memory) const;
};
struct FreePinned {
  void operator()(void* memory) const;
};
/// Too little memory ends the job with the number of bytes.
std::unique_ptr<void, FreeDevice> allocate_device(std::size_t bytes);
std::unique_ptr<void, FreePinned> allocate_pinned(std::size_t bytes);

/// @param Memory unique_ptr to it. Arrays begin on 256 bytes.
template <typename T, typename Memory, Memory (*allocate)(std::size_t)>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t count) : memory_(allocate(count * sizeof(T))), count_(count) {}

  std::size_t size() const { return count_; }
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::span<T> span() const { return {data(), count_}; }

 private:
  Memory memory_;
  std::size_t count_ = 0;
};

/// Its elements cannot be looked at by the host.
template <typename T>
using DeviceBuffer = Buffer<T, std::unique_ptr<void, FreeDevice>, allocate_device>;
template <typename T>
using PinnedBuffer = Buffer<T, std::unique_ptr<void, FreePinned>, allocate_pinned>;

void copy_bytes(const Stream& stream, std::span<const std::byte> from, std::span<std::byte> to);

/// Queues to[n] = from[n], either of them on the host or the device. Asynchronous if the host's is pinned; a
/// pageable one may block the host.
template <typename T>
void copy(const Stream& stream, std::span<const T> from, std::type_identity_t<std::span<T>> to) {
  copy_bytes(stream, std::as_bytes(from), std::as_writable_bytes(to));
}

}  // namespace steelyard::cuda
