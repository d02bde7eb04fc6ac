#include "src/base/random.hpp"
#include "src/data/dataset.hpp"

namespace steelyard {
namespace {

constexpr std::size_t kTrain = 2048;
constexpr std::size_t kTest = 512;

/// A fixed random picture per class, under noise of the same size: learnable, but not at once.
Samples make_samples(const DatasetRequest& request, std::size_t count, std::uint64_t stream) {
  Samples samples{count, request.inputs, {}, {}};
  samples.pixels.resize(count * request.inputs);
  samples.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto label = random_bits(request.seed, stream, i) % request.classes;
    samples.labels[i] = static_cast<std::uint8_t>(label);
    for (std::size_t j = 0; j < request.inputs; ++j) {
      const auto picture = random_bits(request.seed, 100 + label, j) % 128;
      const auto noise = random_bits(request.seed, 1000 + stream, i * request.inputs + j) % 128;
      samples.pixels[i * request.inputs + j] = static_cast<std::uint8_t>(picture + noise);
    }
  }
  return samples;
}

}  // namespace

Expected<Dataset> load_synthetic(const DatasetRequest& request) {
  Dataset dataset;
  dataset.train = make_samples(request, kTrain, 1);
  dataset.test = make_samples(request, kTest, 2);
  dataset.source =
      "synthetic, " + std::to_string(kTrain) + " training and " + std::to_string(kTest) + " test samples";
  return dataset;
}

}  // namespace steelyard
