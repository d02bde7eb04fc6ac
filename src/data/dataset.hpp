#pragma once

/// @file
/// Images and labels, as bytes, and where they come from.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"

namespace steelyard {

/// `count` samples of `inputs` bytes each, with a label or a set of tags each.
struct Samples {
  std::size_t count = 0;
  std::size_t inputs = 0;
  std::vector<std::uint8_t> pixels;  ///< [count, inputs]; none where samples are drawn
  std::vector<std::uint8_t> labels;  ///< [count], each below the number of classes; none where there are tags
  std::vector<std::uint16_t> tags{};  ///< [count], bit i says whether class i applies; none with labels
  /// Writes the [inputs] bytes of a sample, for samples that are not kept but made when they are needed.
  std::function<void(std::size_t sample, std::span<std::uint8_t> bytes)> draw{};

  /// The [inputs] bytes of a sample. @param scratch [inputs], where drawn ones go.
  std::span<const std::uint8_t> bytes_of(std::size_t sample, std::span<std::uint8_t> scratch) const;
};

struct Dataset {
  std::string name;    ///< As asked for.
  std::string source;  ///< What was read, for people: which files, how many samples.
  Samples train;
  Samples test;
  float mean = 0.0F;       ///< Of the training pixels / 255; of drawn samples, of the first 1,024.
  float deviation = 1.0F;  ///< Of the same.
};

struct DatasetRequest {
  std::string name;        ///< One of datasets.def.
  std::string directory;   ///< Of the files; empty: look in the usual places.
  std::size_t inputs = 0;  ///< What the model takes.
  std::size_t classes = 0;
  std::uint64_t seed = 0;
  bool tagged = false;  ///< Whether the model takes sets of tags.
};

/// Reads and checks a data set; errors name the file and what is wrong with it.
Expected<Dataset> load_dataset(const DatasetRequest& request);
std::string dataset_help();
bool is_dataset_name(std::string_view name);
std::string dataset_names();

/// Fills mean and deviation from the training pixels.
void measure_pixels(Dataset& dataset);

/// Folder of the files that come with the program: beside the build tree, or installed.
std::string own_data_directory();

}  // namespace steelyard
