#include "tests/support/fake_gpu/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/support/fake_gpu/refuse.hpp"

namespace steelyard::fake_gpu {
namespace {

constexpr std::size_t kPipesBegin = (sizeof(SharedState) + alignof(Pipe) - 1) / alignof(Pipe) * alignof(Pipe);

void* mapped(const std::string& name, std::size_t bytes) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
    refuse("shared memory " + name + " of " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) refuse("shared memory " + name + ": " + std::strerror(errno));
  close(file);
  return memory;
}

}  // namespace

Segment::Segment(const std::string& name, int ranks)
    : name_(name),
      ranks_(ranks),
      bytes_(kPipesBegin + sizeof(Pipe) * static_cast<std::size_t>(ranks * ranks)),
      memory_(mapped(name, bytes_)) {}

Segment::~Segment() { munmap(memory_, bytes_); }

void Segment::unlink() const { shm_unlink(name_.c_str()); }

Pipe& Segment::pipe(int from, int to) const {
  auto* first = reinterpret_cast<Pipe*>(static_cast<std::byte*>(memory_) + kPipesBegin);
  return first[from * ranks_ + to];
}

}  // namespace steelyard::fake_gpu
