#include "src/model/inventory_file.hpp"

#include <algorithm>
#include <filesystem>

#include "src/data/dataset.hpp"
#include "src/model/readers/readers.hpp"

namespace steelyard {
namespace {

namespace fs = std::filesystem;

struct Format {
  std::string_view ending;
  std::string_view help;
  readers::ReadFile* read;
};

constexpr Format kFormats[] = {
#define READER(format, ending, help) {ending, help, readers::read_##format},
#include "src/model/readers/readers.def"
#undef READER
};

fs::path models_directory() { return fs::path(own_data_directory()) / "models"; }

/// The format with the longest ending that fits. @return nullptr where none does.
const Format* format_of(std::string_view path) {
  const Format* found = nullptr;
  for (const Format& format : kFormats)
    if (path.ends_with(format.ending) && (found == nullptr || format.ending.size() > found->ending.size()))
      found = &format;
  return found;
}

std::string allowed() {
  return "choose one of: " + inventory_names() + ", or give the path of a file that ends in " +
         inventory_endings();
}

}  // namespace

std::string inventory_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(models_directory(), error))
    if (entry.path().extension() == ".csv") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string inventory_endings() {
  std::string list;
  for (const Format& format : kFormats) list += (list.empty() ? "" : ", ") + std::string(format.ending);
  return list;
}

Expected<InventoryFile> read_inventory(std::string_view name) {
  std::error_code error;
  const Format* const format = format_of(name);
  const fs::path own = models_directory() / (std::string(name) + ".csv");
  const bool path = format != nullptr || name.find('/') != std::string_view::npos ||
                    (!fs::is_regular_file(own, error) && fs::is_regular_file(fs::path(name), error));
  const fs::path file = path ? fs::path(name) : own;
  if (!fs::is_regular_file(file, error))
    return Error{(path ? "there is no model file '" + file.string() + "'"
                       : "there is no inventory '" + std::string(name) + "'") +
                 "; " + allowed()};
  if (path && format == nullptr)
    return Error{"the format of the model file '" + file.string() + "' is not known by its ending; " +
                 allowed()};
  return (path ? format->read : readers::read_csv)(file.string());
}

Status check_trainable(const Inventory& inventory) {
  constexpr std::size_t kMostElements = std::size_t{1} << 36U;
  for (const Tensor& tensor : inventory)
    if (tensor.dtype != "float32")
      return Error{"dtype '" + std::string(tensor.dtype) + "' of '" + tensor.name +
                   "': only float32 is trained"};
  if (total_elements(inventory) > kMostElements) return Error{"more than 2^36 elements cannot be trained"};
  return success();
}

}  // namespace steelyard
