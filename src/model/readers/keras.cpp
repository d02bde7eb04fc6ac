#include "src/model/readers/keras.hpp"

#include <algorithm>
#include <charconv>
#include <compare>

#include "src/base/guarded.hpp"
#include "src/model/readers/hdf5_tree.hpp"

namespace steelyard::readers {
namespace {

constexpr std::size_t kMostDepth = 32;
constexpr std::size_t kMostObjects = std::size_t{1} << 21U;
constexpr std::size_t kMostBytesRead = std::size_t{1} << 30U;

struct Weight {
  std::string name;
  Hdf5Tensor tensor;
};

using Weights = Expected<std::vector<Weight>>;

/// Keras 2, and .h5 files of Keras 3: attributes say the order of layers, and of the weights of each.
Weights list_named(hid_t model, const std::vector<std::string>& layers) {
  std::vector<Weight> weights;
  for (const std::string& layer : layers) {
    const Hdf5Id group = open_object(model, layer);
    const auto names = group.valid() ? text_attribute(group.id(), "weight_names") : std::nullopt;
    if (!names) return Error{"lacks the weights of its layer '" + shown(layer) + "'"};
    for (const std::string& name : *names) {
      const Hdf5Id object = open_object(group.id(), name);
      const auto tensor = object.valid() ? describe_dataset(object.id()) : std::nullopt;
      if (!tensor) return Error{"lacks the weight '" + shown(name) + "' of its layer '" + shown(layer) + "'"};
      weights.push_back({name, *tensor});
      if (weights.size() > kMostTensors) return Error{"has more than 1,048,576 tensors"};
    }
  }
  return weights;
}

/// "10" after "9": numbers in names count as numbers.
bool natural_less(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  const std::string_view last_a = a.substr(a.rfind('/') + 1);
  const std::string_view last_b = b.substr(b.rfind('/') + 1);
  if (number(last_a) && number(last_b) && last_a.size() != last_b.size())
    return last_a.size() < last_b.size();
  return a < b;
}

/// Keras 3: variables 0, 1, ... in a group "vars" of each layer. The file does not say the order of layers;
/// it is taken from where they stand in the file.
class Tree {
 public:
  Weights list(hid_t root) {
    walk(root, "", 0);
    if (!why_.empty()) return Error{why_};
    std::ranges::stable_sort(layers_, {}, [](const Layer& layer) { return layer.address; });
    std::vector<Weight> weights;
    for (Layer& layer : layers_) {
      std::ranges::stable_sort(layer.weights,
                               [](const Weight& a, const Weight& b) { return natural_less(a.name, b.name); });
      std::ranges::move(layer.weights, std::back_inserter(weights));
    }
    return weights;
  }

 private:
  struct Layer {
    std::size_t address = 0;  ///< The highest: HDF5 puts some later objects into gaps between earlier ones.
    std::vector<Weight> weights;
  };

  static bool is_state(const std::string& path) {
    return path == "optimizer" || path == "metrics" || path == "compile_metrics";
  }

  void walk(hid_t group, const std::string& path, std::size_t depth) {
    if (depth > kMostDepth) why_ = "has groups nested deeper than " + std::to_string(kMostDepth);
    Layer layer;
    for (const std::string& name : members(group)) {
      if (++objects_ > kMostObjects) why_ = "has more than 2,097,152 objects, or groups in a circle";
      if (!why_.empty()) return;
      const std::string inside = path.empty() ? name : path + "/" + name;
      const Hdf5Id object = is_state(inside) ? Hdf5Id(H5I_INVALID_HID, H5Oclose) : open_object(group, name);
      if (!object.valid()) continue;
      if (is_group(object.id())) walk(object.id(), inside, depth + 1);
      const auto tensor = path.ends_with("vars") ? describe_dataset(object.id()) : std::nullopt;
      if (!tensor) continue;
      layer.address = std::max(layer.address, tensor->address);
      layer.weights.push_back({inside, *tensor});
    }
    if (!layer.weights.empty()) layers_.push_back(std::move(layer));
  }

  std::vector<Layer> layers_;
  std::size_t objects_ = 0;
  std::string why_;
};

Weights list_weights(hid_t root) {
  if (const auto layers = text_attribute(root, "layer_names")) return list_named(root, *layers);
  if (H5Lexists(root, "model_weights", H5P_DEFAULT) > 0) {
    const Hdf5Id model = open_object(root, "model_weights");
    const auto layers = model.valid() ? text_attribute(model.id(), "layer_names") : std::nullopt;
    if (layers) return list_named(model.id(), *layers);
  }
  return Tree().list(root);
}

std::string joined(const Shape& shape) {
  std::string text;
  for (const std::size_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// What the guarded process answers: '-' and why not; or '+', then of each weight "length dtype shape\nname".
std::string answer(const SourceFile& file, const std::function<Expected<Extent>(const SourceFile&)>& locate) {
  const auto extent = locate(file);
  if (!extent) return "-" + extent.error().message;
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  std::size_t budget = kMostBytesRead;
  const Hdf5Window window{&file, extent.value().begin, extent.value().size, &budget};
  const Hdf5Id root = open_window(window);
  if (!root.valid()) return "-holds no HDF5 that can be read, or ends early";
  const Weights weights = list_weights(root.id());
  if (!weights) return "-" + weights.error().message;
  std::string text = "+";
  for (const auto& [name, tensor] : weights.value()) {
    const Dtype* const dtype = dtype_named(tensor.dtype);
    if (dtype == nullptr) return "-has an unknown type of elements in '" + shown(name) + "'";
    if (!dtype->floating || count_elements(tensor.shape) == 0) continue;
    text += std::to_string(name.size()) + " " + tensor.dtype + " " + joined(tensor.shape) + "\n" + name;
  }
  return text;
}

/// @return whether the text was as above; `why` where a tensor is wrong.
bool add_all(std::string_view text, Builder& builder, std::string& why) {
  while (!text.empty()) {
    const std::size_t line = text.find('\n');
    const std::size_t first = text.find(' ');
    const std::size_t second = text.find(' ', first + 1);
    if (line == std::string_view::npos || second > line) return false;
    std::size_t length = 0;
    std::from_chars(text.data(), text.data() + first, length);
    const Dtype* const dtype = dtype_named(text.substr(first + 1, second - first - 1));
    auto shape = parse_shape(text.substr(second + 1, line - second - 1));
    if (dtype == nullptr || !shape || length > text.size() - line - 1) return false;
    if (const auto wrong_with =
            builder.add(std::string(text.substr(line + 1, length)), *std::move(shape), *dtype)) {
      why = *wrong_with;
      return true;
    }
    text.remove_prefix(line + 1 + length);
  }
  return true;
}

}  // namespace

Expected<InventoryFile> read_keras_weights(const std::string& path,
                                           const std::function<Expected<Extent>(const SourceFile&)>& locate) {
  auto file = SourceFile::open(path);
  if (!file) return file.error();
  const auto answered = run_guarded([&] { return answer(file.value(), locate); });
  if (!answered)
    return wrong(path, "cannot be read: the HDF5 library " + answered.error().message + " on it");
  const std::string& text = answered.value();
  if (text.starts_with('-')) return wrong(path, text.substr(1));
  Builder builder;
  std::string why;
  if (!text.starts_with('+') || !add_all(std::string_view(text).substr(1), builder, why))
    return wrong(path, "cannot be read: the HDF5 library failed on it");
  if (!why.empty()) return wrong(path, "is wrong: " + why);
  if (builder.size() == 0) return wrong(path, "holds no weights of Keras");
  return std::move(builder).finish(path);
}

}  // namespace steelyard::readers
