#include "src/model/readers/source_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/model/readers/builder.hpp"

namespace steelyard::readers {

SourceFile::SourceFile(std::string path, int descriptor, std::size_t size)
    : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

SourceFile::SourceFile(SourceFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

SourceFile::~SourceFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Expected<SourceFile> SourceFile::open(const std::string& path) {
  // Opening a pipe would wait for its other end.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return wrong(path, std::string("cannot be opened: ") + std::strerror(errno));
  SourceFile file(path, descriptor, 0);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return wrong(path, "is no regular file");
  file.size_ = static_cast<std::size_t>(status.st_size);
  return file;
}

std::size_t SourceFile::read_at(std::size_t offset, std::span<char> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size() && offset + done < size_) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Expected<std::string> SourceFile::text(std::size_t offset, std::size_t count) const {
  if (offset > size_ || count > size_ - offset)
    return wrong(path_, "ends early: it has " + std::to_string(size_) + " bytes");
  std::string bytes(count, '\0');
  if (read_at(offset, bytes) != count) return wrong(path_, "cannot be read to its end");
  return bytes;
}

}  // namespace steelyard::readers
