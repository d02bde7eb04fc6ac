#include "src/cli/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace steelyard::cli {
namespace {

Error cannot_write(const std::string& option, const std::string& path) {
  return {fmt::format("--{} '{}': cannot be written: {}", option, path, std::strerror(errno))};
}

}  // namespace

Status check_path(const std::string& option, const std::string& path) {
  if (path.empty() || path == "-") return success();
  if (const std::ofstream file(path, std::ios::app); !file) return cannot_write(option, path);
  return success();
}

Status write_text(const std::string& option, const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return std::cout ? success() : Status(cannot_write(option, path));
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? success() : Status(cannot_write(option, path));
}

}  // namespace steelyard::cli
