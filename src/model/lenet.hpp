#pragma once

/// @file
/// LeNet-5 (LeCun et al. 1998) with ReLU and max-pooling, and its relatives.

#include "src/model/chain.hpp"

namespace steelyard {

/// What the relatives differ in.
struct LenetShape {
  std::size_t channels = 1;
  std::size_t side = 28;  ///< Pixels of an image, either way; a multiple of 4.
  std::size_t wider = 1;
  bool tagged = false;  ///< As ChainShape's.
};

/// Two convolutions of 6 and 16 maps 5x5, then fully connected layers of 120 `wider` and 84 `wider` units and
/// 10 classes. Images are [side, side, channels]. On 28x28 and one channel 61,706 parameters where `wider` is
/// 1, else 10,080 wider^2 + 49,044 wider + 2,582.
ModelSpec lenet_spec(const LenetShape& shape);

}  // namespace steelyard
