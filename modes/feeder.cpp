#include "modes/feeder.hpp"

#include "kernels/elementwise.hpp"

namespace steelyard {

Feeder::Feeder(const Dataset& dataset, std::size_t most)
    : dataset_(dataset), features_(most * dataset.train.inputs), labels_(most) {}

Batch Feeder::batch(const Samples& from, std::span<const std::uint32_t> which) {
  const std::size_t inputs = from.inputs;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto pixels = std::span(from.pixels).subspan(which[i] * inputs, inputs);
    kernels::normalise(pixels, dataset_.mean, dataset_.deviation,
                       features_.span().subspan(i * inputs, inputs));
    labels_[i] = from.labels[which[i]];
  }
  return {which.size(), features_.span().first(which.size() * inputs),
          std::span(labels_).first(which.size())};
}

}  // namespace steelyard
