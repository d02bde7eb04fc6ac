#pragma once

/// @file
/// LeNet-5 (LeCun et al. 1998) with ReLU and max-pooling.

#include "src/model/model.hpp"

namespace steelyard {

/// Two convolutions of 6 and 16 maps 5x5 on 28x28 images, then fully connected layers of 120 `wider` and
/// 84 `wider` units and 10 classes. 61,706 parameters where `wider` is 1, else
/// 10,080 wider^2 + 49,044 wider + 2,582.
ModelSpec lenet_spec(std::size_t wider);

}  // namespace steelyard
