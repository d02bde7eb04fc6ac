#include <algorithm>

#include "kernels/sigmoid.hpp"
#include "kernels/softmax.hpp"
#include "src/model/chain.hpp"

namespace steelyard {
namespace {

class HostEnds final : public ChainEnds {
 public:
  HostEnds(std::size_t classes, bool tagged) : classes_(classes), tagged_(tagged) {}

  const float* input(const Batch& batch) override { return batch.features.data(); }

  BatchResult loss(const Batch& batch, float scale, std::span<const float> logits, float* gradient) override {
    std::ranges::copy(logits, gradient);
    if (tagged_)
      return {kernels::sigmoid_cross_entropy(batch.count, classes_, batch.tags.data(), scale, gradient), 0,
              logits};
    const auto result =
        kernels::softmax_cross_entropy(batch.count, classes_, batch.labels.data(), scale, gradient);
    return {result.loss_sum, result.correct};
  }

 private:
  std::size_t classes_;
  bool tagged_;
};

}  // namespace

std::unique_ptr<ChainEnds> make_host_ends(const ChainShape& shape) {
  return std::make_unique<HostEnds>(shape.classes, shape.tagged);
}

}  // namespace steelyard
