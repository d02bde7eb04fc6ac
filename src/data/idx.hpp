#pragma once

/// @file
/// The IDX format of the MNIST files, plain or gzip. A file is never trusted: magic, type, sizes and the end
/// of the data are checked.

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/data/dataset.hpp"

namespace steelyard {

struct IdxArray {
  std::vector<std::size_t> shape;  ///< Outermost axis first.
  std::vector<std::uint8_t> bytes;
};

/// @param axes how many axes the file must have.
Expected<IdxArray> read_idx(const std::string& path, std::size_t axes);

/// Images [count, height, width] and labels [count] that belong together.
Expected<Samples> read_idx_samples(const std::string& images, const std::string& labels);

}  // namespace steelyard
