#pragma once

/// @file
/// A fuzzer's bytes as a file that readers open by its path.

#include <cstddef>
#include <cstdint>
#include <string>

namespace steelyard::fuzz {

/// A file in memory, at a path of /proc/self/fd; or one in STEELYARD_FUZZ_FOLDER, where that is set and has
/// other files that the input may name.
class File {
 public:
  File(const std::uint8_t* bytes, std::size_t count);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();
  const std::string& path() const { return path_; }

 private:
  int descriptor_ = -1;
  bool on_disk_ = false;
  std::string path_;
};

/// Aborts unless `ok`: a reader gave an answer that it must not give.
void require(bool ok, const char* what);

}  // namespace steelyard::fuzz
