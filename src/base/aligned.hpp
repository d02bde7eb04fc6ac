#pragma once

/// @file
/// A fixed, zeroed array of trivially copyable elements on a cache-line boundary.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

namespace steelyard {

inline constexpr std::size_t kCacheLine = 64;

/// Elements of T in a cache line.
template <typename T>
inline constexpr std::size_t kPerLine = kCacheLine / sizeof(T);

/// `count` elements of T, rounded up to whole cache lines.
template <typename T>
constexpr std::size_t whole_lines(std::size_t count) {
  return (count + kPerLine<T> - 1) / kPerLine<T> * kPerLine<T>;
}

template <typename T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t count) : count_(count) {
    const std::size_t bytes = whole_lines<std::byte>(count * sizeof(T));
    if (bytes == 0) return;
    data_.reset(static_cast<T*>(std::aligned_alloc(kCacheLine, bytes)));
    if (!data_) throw std::bad_alloc();
    std::memset(static_cast<void*>(data_.get()), 0, bytes);
  }

  std::size_t size() const noexcept { return count_; }
  T* data() noexcept { return data_.get(); }
  const T* data() const noexcept { return data_.get(); }
  T& operator[](std::size_t i) { return data_.get()[i]; }
  const T& operator[](std::size_t i) const { return data_.get()[i]; }
  std::span<T> span() noexcept { return {data_.get(), count_}; }
  std::span<const T> span() const noexcept { return {data_.get(), count_}; }

 private:
  struct Free {
    void operator()(T* pointer) const noexcept { std::free(pointer); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace steelyard
