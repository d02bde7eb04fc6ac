#include "modes/feeder.hpp"

#include "kernels/elementwise.hpp"

namespace steelyard {

Feeder::Feeder(const Dataset& dataset, std::size_t most, std::span<float> features)
    : dataset_(dataset),
      own_(features.empty() ? most * dataset.train.inputs : 0),
      features_(features.empty() ? own_.span() : features),
      labels_(most),
      tags_(most),
      drawn_(dataset.train.draw ? dataset.train.inputs : 0) {}

Batch Feeder::batch(const Samples& from, std::span<const std::uint32_t> which) {
  const std::size_t inputs = from.inputs;
  const bool tagged = !from.tags.empty();
  for (std::size_t i = 0; i < which.size(); ++i) {
    kernels::normalise(from.bytes_of(which[i], drawn_), dataset_.mean, dataset_.deviation,
                       features_.subspan(i * inputs, inputs));
    if (tagged)
      tags_[i] = from.tags[which[i]];
    else
      labels_[i] = from.labels[which[i]];
  }
  return {which.size(), features_.first(which.size() * inputs),
          std::span(labels_).first(tagged ? 0 : which.size()),
          std::span(tags_).first(tagged ? which.size() : 0)};
}

}  // namespace steelyard
