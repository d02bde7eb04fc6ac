#include "src/model/cuda/ends.hpp"

#include <algorithm>

#include "kernels/cuda/loss.hpp"
#include "src/cuda/buffer.hpp"

namespace steelyard {
namespace {

/// The same array on the device and, pinned, on the host.
template <typename T>
struct Mirrored {
  explicit Mirrored(std::size_t count) : host(count), device(count) {}

  void send(const cuda::Stream& stream, std::span<const T> values) {
    std::ranges::copy(values, host.data());
    cuda::copy<T>(stream, host.span().first(values.size()), device.span().first(values.size()));
  }
  void fetch(const cuda::Stream& stream) { cuda::copy<T>(stream, device.span(), host.span()); }

  cuda::PinnedBuffer<T> host;
  cuda::DeviceBuffer<T> device;
};

class DeviceEnds final : public ChainEnds {
 public:
  DeviceEnds(const ChainShape& shape, std::size_t max_batch, const cuda::Stream& stream)
      : stream_(stream),
        classes_(shape.classes),
        features_(max_batch * shape.inputs),
        labels_(shape.tagged ? 0 : max_batch),
        tags_(shape.tagged ? max_batch : 0),
        scores_(shape.tagged ? max_batch * shape.classes : 0),
        result_(1) {}

  std::span<float> staging() override { return features_.host.span(); }

  const float* input(const Batch& batch) override {
    cuda::copy<float>(stream_, batch.features, features_.device.span().first(batch.features.size()));
    return features_.device.data();
  }

  BatchResult loss(const Batch& batch, float scale, std::span<const float> logits, float* gradient) override {
    cuda::copy<float>(stream_, logits, {gradient, logits.size()});
    const bool tagged = scores_.size() > 0;
    if (tagged) {
      tags_.send(stream_, batch.tags);
      kernels::sigmoid_cross_entropy(stream_.queue(), batch.count, classes_, tags_.device.data(), scale,
                                     gradient, &result_.device.data()->loss_sum);
      cuda::copy<float>(stream_, logits, scores_.span().first(logits.size()));
    } else {
      labels_.send(stream_, batch.labels);
      kernels::softmax_cross_entropy(stream_.queue(), batch.count, classes_, labels_.device.data(), scale,
                                     gradient, result_.device.data());
    }
    result_.fetch(stream_);
    stream_.record(done_);
    done_.wait();
    const kernels::SoftmaxResult& result = *result_.host.data();
    return {result.loss_sum, result.correct, scores_.span().first(tagged ? logits.size() : 0)};
  }

 private:
  const cuda::Stream& stream_;
  std::size_t classes_;
  Mirrored<float> features_;
  Mirrored<std::uint8_t> labels_;
  Mirrored<std::uint16_t> tags_;
  cuda::PinnedBuffer<float> scores_;
  Mirrored<kernels::SoftmaxResult> result_;  ///< Of tags, the loss alone.
  cuda::Event done_;
};

}  // namespace

std::unique_ptr<ChainEnds> make_device_ends(const ChainShape& shape, std::size_t max_batch,
                                            const cuda::Stream& stream) {
  return std::make_unique<DeviceEnds>(shape, max_batch, stream);
}

}  // namespace steelyard
