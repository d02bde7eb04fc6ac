#pragma once

/// @file
/// Turns samples of a data set into batches for a model: bytes to normalised floats, in place of the last
/// batch.

#include <span>
#include <vector>

#include "src/base/aligned.hpp"
#include "src/data/dataset.hpp"
#include "src/model/model.hpp"

namespace steelyard {

class Feeder {
 public:
  /// @param dataset borrowed. @param most the largest batch.
  /// @param features borrowed, [most, inputs]; an empty one is replaced by memory of the object's own.
  Feeder(const Dataset& dataset, std::size_t most, std::span<float> features = {});

  /// The samples numbered `which` of `from`, at most `most`. Valid until the next call.
  Batch batch(const Samples& from, std::span<const std::uint32_t> which);

 private:
  const Dataset& dataset_;
  AlignedArray<float> own_;
  std::span<float> features_;
  std::vector<std::uint8_t> labels_;
  std::vector<std::uint16_t> tags_;
  std::vector<std::uint8_t> drawn_;  ///< [inputs] of one sample.
};

}  // namespace steelyard
