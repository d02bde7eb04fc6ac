#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>

#include "src/base/catalog.hpp"
#include "src/data/dataset.hpp"

namespace steelyard {

using LoadDataset = Expected<Dataset>(const DatasetRequest& request);

#define DATASET(function, name, help) LoadDataset load_##function;
#include "src/data/datasets.def"
#undef DATASET

namespace {

constexpr Choice<LoadDataset> kRows[] = {
#define DATASET(function, name, help) {name, help, load_##function},
#include "src/data/datasets.def"
#undef DATASET
};

/// Whether the model can do with these samples; the error says why not.
Status check_fit(const DatasetRequest& request, const Samples& samples) {
  const std::string set = "data set '" + request.name + "' has ";
  if (samples.inputs != request.inputs)
    return Error{set + std::to_string(samples.inputs) + " values per sample, the model takes " +
                 std::to_string(request.inputs) + "; choose a model and a data set that fit each other"};
  if (request.tagged == samples.tags.empty())
    return Error{set +
                 (request.tagged ? "one label per sample, the model takes sets of tags"
                                 : "a set of tags per sample, the model takes one label") +
                 "; choose a model and a data set that fit each other"};
  for (const std::uint8_t label : samples.labels)
    if (label >= request.classes)
      return Error{set + "the label " + std::to_string(label) + ", the model has " +
                   std::to_string(request.classes) + " outputs; labels must be below that"};
  for (const std::uint16_t tags : samples.tags)
    if (tags >> request.classes != 0)
      return Error{set + "the tag " + std::to_string(std::bit_width(tags) - 1) + ", the model has " +
                   std::to_string(request.classes) + " outputs; tags must be below that"};
  return success();
}

/// How often each value occurs among the training pixels.
std::array<std::uint64_t, 256> count_pixels(const Samples& train) {
  constexpr std::size_t kDrawn = 1024;
  std::array<std::uint64_t, 256> counts{};
  for (const std::uint8_t pixel : train.pixels) ++counts[pixel];
  if (!train.draw) return counts;
  std::vector<std::uint8_t> bytes(train.inputs);
  for (std::size_t i = 0; i < std::min(kDrawn, train.count); ++i) {
    train.draw(i, bytes);
    for (const std::uint8_t pixel : bytes) ++counts[pixel];
  }
  return counts;
}

}  // namespace

std::span<const std::uint8_t> Samples::bytes_of(std::size_t sample, std::span<std::uint8_t> scratch) const {
  if (!draw) return std::span(pixels).subspan(sample * inputs, inputs);
  draw(sample, scratch);
  return scratch;
}

Expected<Dataset> load_dataset(const DatasetRequest& request) {
  auto load = choose<LoadDataset>("data set", kRows, request.name);
  if (!load) return load.error();
  auto dataset = load.value()(request);
  if (!dataset) return dataset;
  dataset.value().name = request.name;
  for (const Samples* part : {&dataset.value().train, &dataset.value().test})
    if (auto fits = check_fit(request, *part); !fits) return fits.error();
  measure_pixels(dataset.value());
  return dataset;
}

std::string dataset_help() { return help<LoadDataset>(kRows); }
std::string dataset_names() { return names<LoadDataset>(kRows); }

bool is_dataset_name(std::string_view name) {
  return choose<LoadDataset>("data set", kRows, name).has_value();
}

void measure_pixels(Dataset& dataset) {
  const std::array<std::uint64_t, 256> counts = count_pixels(dataset.train);
  double n = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const double x = static_cast<double>(value) / 255.0;
    n += static_cast<double>(counts[value]);
    sum += x * static_cast<double>(counts[value]);
    squares += x * x * static_cast<double>(counts[value]);
  }
  const double variance = squares / n - (sum / n) * (sum / n);
  dataset.mean = static_cast<float>(sum / n);
  dataset.deviation = variance > 0.0 ? static_cast<float>(std::sqrt(variance)) : 1.0F;
}

std::string own_data_directory() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (fs::path up = program.parent_path(); up.has_relative_path(); up = up.parent_path())
    for (const fs::path& candidate : {up / "share" / "steelyard" / "data", up / "data"})
      if (fs::is_directory(candidate / "fashion-mnist-sample", ignored)) return candidate;
  // A build tree may lie outside the sources.
  const fs::path sources = STEELYARD_DATA_DIRECTORY;
  return fs::is_directory(sources / "fashion-mnist-sample", ignored) ? sources.string() : std::string();
}

}  // namespace steelyard
