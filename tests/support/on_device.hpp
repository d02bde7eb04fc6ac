#pragma once

/// @file
/// Arrays of the host on the device and back.

#include <vector>

#include "src/base/random.hpp"
#include "src/cuda/buffer.hpp"

namespace steelyard::test {

/// An array on the device, `shift` elements behind the alignment that kernels like best.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values, std::size_t shift = 0)
      : buffer_(values.size() + shift), shift_(shift) {
    cuda::copy<T>(stream_, values, span());
    stream_.finish();
  }

  std::span<T> span() const { return buffer_.span().subspan(shift_); }
  T* data() const { return span().data(); }

  /// What is there when all that `after` holds is done.
  std::vector<T> values(const cuda::Stream& after) const {
    std::vector<T> result(span().size());
    after.finish();
    cuda::copy<T>(stream_, span(), result);
    stream_.finish();
    return result;
  }

 private:
  cuda::Stream stream_;
  cuda::DeviceBuffer<T> buffer_;
  std::size_t shift_;
};

/// Numbers from -1 to 1.
inline std::vector<float> random_values(std::size_t count, std::uint64_t stream) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_unit(11, stream, i);
  return values;
}

/// None, one, about a vector, about a block of threads, and many blocks.
inline constexpr std::size_t kCounts[] = {0, 1, 3, 4, 7, 255, 1023, 1025, 100'003};
/// On a boundary of 16 bytes, and off it.
inline constexpr std::size_t kShifts[] = {0, 1};

}  // namespace steelyard::test
