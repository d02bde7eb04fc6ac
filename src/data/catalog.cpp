#include <unistd.h>

#include <array>
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

}  // namespace

Expected<Dataset> load_dataset(const DatasetRequest& request) {
  auto load = choose<LoadDataset>("data set", kRows, request.name);
  if (!load) return load.error();
  auto dataset = load.value()(request);
  if (!dataset) return dataset;
  dataset.value().name = request.name;
  if (dataset.value().train.inputs != request.inputs)
    return Error{"data set '" + request.name + "' has " + std::to_string(dataset.value().train.inputs) +
                 " values per sample, the model takes " + std::to_string(request.inputs) +
                 "; choose a model and a data set that fit each other"};
  for (const Samples* part : {&dataset.value().train, &dataset.value().test})
    for (const std::uint8_t label : part->labels)
      if (label >= request.classes)
        return Error{"data set '" + request.name + "' has the label " + std::to_string(label) +
                     ", the model has " + std::to_string(request.classes) +
                     " outputs; labels must be below that"};
  measure_pixels(dataset.value());
  return dataset;
}

std::string dataset_help() { return help<LoadDataset>(kRows); }
std::string dataset_names() { return names<LoadDataset>(kRows); }

bool is_dataset_name(std::string_view name) {
  return choose<LoadDataset>("data set", kRows, name).has_value();
}

void measure_pixels(Dataset& dataset) {
  std::array<std::uint64_t, 256> counts{};
  for (const std::uint8_t pixel : dataset.train.pixels) ++counts[pixel];
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const double x = static_cast<double>(value) / 255.0;
    sum += x * static_cast<double>(counts[value]);
    squares += x * x * static_cast<double>(counts[value]);
  }
  const auto n = static_cast<double>(dataset.train.pixels.size());
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
