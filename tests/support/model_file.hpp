#pragma once

/// @file
/// Model files that a test writes, and those of tests/data/inventories.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "src/model/inventory_file.hpp"

namespace steelyard::test {

/// A file of the temporary folder that goes with its owner.
class ModelFile {
 public:
  ModelFile(const std::string& bytes, const std::string& ending)
      : path_(std::filesystem::temp_directory_path() /
              ("steelyard-model-" + std::to_string(::getpid()) + ending)) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  ~ModelFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// @return why a file of these bytes is refused, "accepted" where it is not.
inline std::string refusal(const std::string& bytes, const std::string& ending) {
  const ModelFile file(bytes, ending);
  const auto read = read_inventory(file.path());
  return read ? "accepted" : read.error().message;
}

inline std::string test_file(const std::string& name) {
  return std::string(STEELYARD_TEST_FILES) + "/inventories/" + name;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "name shape dtype" of every tensor, one a line.
inline std::string listed(const Inventory& inventory) {
  std::string text;
  for (const Tensor& tensor : inventory) {
    text += tensor.name + " ";
    for (const std::size_t& size : tensor.shape)
      text += std::to_string(size) + (&size == &tensor.shape.back() ? "" : "x");
    text += " " + std::string(tensor.dtype) + "\n";
  }
  return text;
}

}  // namespace steelyard::test
