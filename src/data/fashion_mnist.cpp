#include "src/data/fashion_mnist.hpp"

#include <filesystem>
#include <utility>

#include "src/data/idx.hpp"

namespace steelyard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebianDirectory = "/usr/share/datasets/fashion-mnist";

/// `stem`, or `stem`.gz where only that is there.
std::string plain_or_gzip(const fs::path& stem) {
  std::error_code ignored;
  return fs::exists(stem, ignored) ? stem.string() : stem.string() + ".gz";
}

Expected<Samples> read_part(const fs::path& directory, const std::string& part) {
  return read_idx_samples(plain_or_gzip(directory / (part + "-images-idx3-ubyte")),
                          plain_or_gzip(directory / (part + "-labels-idx1-ubyte")));
}

Expected<Dataset> read_directory(const fs::path& directory, const std::string& what) {
  auto train = read_part(directory, "train");
  if (!train) return train.error();
  auto test = read_part(directory, "t10k");
  if (!test) return test.error();
  Dataset dataset;
  dataset.train = std::move(train).value();
  dataset.test = std::move(test).value();
  if (dataset.train.inputs != dataset.test.inputs)
    return Error{"data files in " + directory.string() + ": training and test images differ in size"};
  dataset.source = what + ", " + std::to_string(dataset.train.count) + " training and " +
                   std::to_string(dataset.test.count) + " test images";
  return dataset;
}

}  // namespace

Expected<Dataset> load_fashion_mnist_sample(const DatasetRequest&) {
  const std::string own = own_data_directory();
  if (own.empty())
    return Error{
        "data set 'fashion-mnist-sample': no folder data/fashion-mnist-sample beside the program or in its "
        "share folder; say --data fashion-mnist with --data-dir, or --data synthetic"};
  return read_directory(fs::path(own) / "fashion-mnist-sample", "Fashion-MNIST sample");
}

Expected<Dataset> load_fashion_mnist(const DatasetRequest& request) {
  if (!request.directory.empty())
    return read_directory(request.directory, "Fashion-MNIST in " + request.directory);
  std::error_code ignored;
  if (fs::is_directory(kDebianDirectory, ignored))
    return read_directory(kDebianDirectory, "Fashion-MNIST of Debian's dataset-fashion-mnist");
  auto sample = load_fashion_mnist_sample(request);
  if (sample)
    sample.value().source +=
        " (the whole set is not installed: apt install dataset-fashion-mnist, or --data-dir)";
  return sample;
}

}  // namespace steelyard
