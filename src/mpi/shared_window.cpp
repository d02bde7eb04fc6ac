#include "src/mpi/shared_window.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "src/base/aligned.hpp"

namespace steelyard::mpi {
namespace {

/// Collective over `node`: rank 0 gives all the memory, so that it is one piece.
MPI_Win allocate(const Communicator& node, std::size_t bytes) {
  MPI_Win window = MPI_WIN_NULL;
  void* own = nullptr;
  const std::size_t mine = node.rank() == 0 ? bytes : 0;
  const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(mine), 1, MPI_INFO_NULL, node.native(),
                                           static_cast<void*>(&own), &window);
  if (code != MPI_SUCCESS)
    die("MPI cannot give " + std::to_string(bytes) + " bytes of memory to the " +
        std::to_string(node.size()) +
        " ranks of this node to share; is /dev/shm too small? Message passing needs none");
  return window;
}

/// Memory of rank 0, as this rank sees it.
std::byte* base_of(MPI_Win window) {
  MPI_Aint size = 0;
  int unit = 0;
  std::byte* base = nullptr;
  check(MPI_Win_shared_query(window, 0, &size, &unit, static_cast<void*>(&base)));
  return base;
}

}  // namespace

SharedWindow::SharedWindow(const Communicator& node, std::size_t bytes)
    : window_(allocate(node, bytes + kCacheLine)) {
  // Every rank maps whole pages, so the first cache line is the same one for all.
  std::byte* const base = base_of(window_);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(base) % kCacheLine;
  bytes_ = {base + (kCacheLine - beyond) % kCacheLine, bytes};
  const auto ranks = static_cast<std::size_t>(node.size());
  const auto rank = static_cast<std::size_t>(node.rank());
  std::ranges::fill(bytes_.first(bytes * (rank + 1) / ranks).subspan(bytes * rank / ranks), std::byte{0});
  check(MPI_Barrier(node.native()));
}

SharedWindow::SharedWindow(SharedWindow&& other) noexcept
    : window_(std::exchange(other.window_, MPI_WIN_NULL)), bytes_(std::exchange(other.bytes_, {})) {}

SharedWindow& SharedWindow::operator=(SharedWindow&& other) noexcept {
  std::swap(window_, other.window_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedWindow::~SharedWindow() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

}  // namespace steelyard::mpi
