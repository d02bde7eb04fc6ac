#include "tests/fuzz/reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace steelyard::fuzz {
namespace {

int create(const char* folder, std::string& path) {
  if (folder == nullptr) {
    const int descriptor = ::memfd_create("fuzz", MFD_CLOEXEC);
    path = "/proc/self/fd/" + std::to_string(descriptor);
    return descriptor;
  }
  path = std::string(folder) + "/input-" + std::to_string(::getpid());
  return ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

}  // namespace

File::File(const std::uint8_t* bytes, std::size_t count) {
  const char* const folder = std::getenv("STEELYARD_FUZZ_FOLDER");
  descriptor_ = create(folder, path_);
  require(descriptor_ >= 0, "a file can be made");
  require(::pwrite(descriptor_, bytes, count, 0) == static_cast<ssize_t>(count), "the file is written");
  on_disk_ = folder != nullptr;
}

File::~File() {
  ::close(descriptor_);
  if (on_disk_) ::unlink(path_.c_str());
}

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace steelyard::fuzz
