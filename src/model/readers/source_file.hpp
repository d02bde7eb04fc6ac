#pragma once

/// @file
/// A regular file of known size, of which readers take the pieces that they need.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "src/base/expected.hpp"

namespace steelyard::readers {

class SourceFile {
 public:
  static Expected<SourceFile> open(const std::string& path);
  SourceFile(SourceFile&& other) noexcept;
  SourceFile& operator=(SourceFile&&) = delete;
  ~SourceFile();

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }
  /// @return how many of the bytes at `offset` were there and could be read.
  std::size_t read_at(std::size_t offset, std::span<char> bytes) const;
  /// The bytes [offset, offset + count); an error where they are not there. Costs no memory before that.
  Expected<std::string> text(std::size_t offset, std::size_t count) const;

 private:
  SourceFile(std::string path, int descriptor, std::size_t size);

  std::string path_;
  int descriptor_ = -1;
  std::size_t size_ = 0;
};

}  // namespace steelyard::readers
