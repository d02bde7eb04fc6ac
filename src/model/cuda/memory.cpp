#include <algorithm>
#include <vector>

#include "src/cuda/buffer.hpp"
#include "src/model/device.hpp"

namespace steelyard {
namespace {

class DeviceMemory final : public RemoteMemory {
 public:
  explicit DeviceMemory(const cuda::Stream& stream) : stream_(stream), pinned_(kPiece) {}

  std::span<float> allocate(std::size_t elements) override { return owned_.emplace_back(elements).span(); }

  void read(std::span<const float> from, std::span<float> to) override {
    in_pieces(from.size(), [&](std::size_t begin, std::span<float> piece) {
      cuda::copy<float>(stream_, from.subspan(begin, piece.size()), piece);
      stream_.record(copied_);
      copied_.wait();
      std::ranges::copy(piece, to.begin() + static_cast<std::ptrdiff_t>(begin));
    });
  }

  void write(std::span<const float> from, std::span<float> to) override {
    in_pieces(from.size(), [&](std::size_t begin, std::span<float> piece) {
      std::ranges::copy(from.subspan(begin, piece.size()), piece.begin());
      cuda::copy<float>(stream_, piece, to.subspan(begin, piece.size()));
      stream_.record(copied_);
      copied_.wait();
    });
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 18U;  ///< Elements; the host waits for each.

  template <typename Visit>
  void in_pieces(std::size_t elements, Visit&& visit) {
    for (std::size_t begin = 0; begin < elements; begin += kPiece)
      visit(begin, pinned_.span().first(std::min(kPiece, elements - begin)));
  }

  const cuda::Stream& stream_;
  cuda::PinnedBuffer<float> pinned_;
  cuda::Event copied_;
  std::vector<cuda::DeviceBuffer<float>> owned_;
};

}  // namespace

std::unique_ptr<RemoteMemory> make_device_memory(const cuda::Stream& stream) {
  return std::make_unique<DeviceMemory>(stream);
}

}  // namespace steelyard
