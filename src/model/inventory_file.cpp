#include "src/model/inventory_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include "src/data/dataset.hpp"
#include "src/model/csv.hpp"

namespace steelyard {
namespace {

namespace fs = std::filesystem;

using Reader = CsvReader<4>;

constexpr std::size_t kMostElements = std::size_t{1} << 36U;
constexpr std::size_t kMostTensors = 1U << 20U;

fs::path models_directory() { return fs::path(own_data_directory()) / "models"; }

/// "64x3x7x7". @return nothing where it is no shape; a scalar is the empty text.
std::optional<std::vector<std::size_t>> parse_shape(std::string_view text) {
  std::vector<std::size_t> shape;
  std::size_t elements = 1;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next != end) {
    std::size_t size = 0;
    const auto [rest, code] = std::from_chars(next, end, size);
    if (code != std::errc() || size == 0 || size > kMostElements / elements) return std::nullopt;
    elements *= size;
    shape.push_back(size);
    next = rest;
    if (next == end) break;
    if (*next != 'x' || ++next == end) return std::nullopt;
  }
  return shape;
}

/// One row, checked. @return what is wrong with it.
std::optional<std::string> add_row(InventoryFile& file, const std::string& name, const std::string& shape,
                                   const std::string& dtype, double multiply_adds) {
  const auto parsed = parse_shape(shape);
  if (name.empty()) return "a tensor has no name";
  if (!parsed)
    return "shape '" + shape + "' of '" + name +
           "' must be sizes from 1 with an 'x' between, such as 64x3x7x7";
  if (dtype != "float32") return "dtype '" + dtype + "' of '" + name + "': only float32 is trained";
  if (std::ranges::any_of(file.inventory, [&](const Tensor& t) { return t.name == name; }))
    return "the name '" + name + "' is there twice";
  if (!(multiply_adds >= 0.0 && multiply_adds < 1e18))
    return "multiply_adds of '" + name + "' must be a number from 0 to 1e18";
  Tensor tensor{name, *parsed};
  file.operations.push_back(multiply_adds);
  file.inventory.push_back(std::move(tensor));
  if (file.inventory.size() > kMostTensors) return "more than 1,048,576 tensors";
  if (total_elements(file.inventory) > kMostElements) return "more than 2^36 elements";
  return std::nullopt;
}

Expected<InventoryFile> read_rows(Reader& reader, const std::string& path) {
  reader.read_header(io::ignore_missing_column | io::ignore_extra_column, "name", "shape", "dtype",
                     "multiply_adds");
  for (const char* column : {"name", "shape", "dtype"})
    if (!reader.has_column(column))
      return Error{"model file '" + path + "' has no column '" + column +
                   "'; its first line must be name,shape,dtype or name,shape,dtype,multiply_adds"};
  const bool counted = reader.has_column("multiply_adds");
  InventoryFile file;
  std::string name;
  std::string shape;
  std::string dtype;
  double multiply_adds = 0.0;
  while (reader.read_row(name, shape, dtype, multiply_adds)) {
    if (auto wrong = add_row(file, name, shape, dtype, multiply_adds))
      return Error{"model file '" + path + "' line " + std::to_string(reader.get_file_line()) + ": " +
                   *wrong};
    if (!counted) file.operations.back() = static_cast<double>(file.inventory.back().elements());
  }
  if (file.inventory.empty()) return Error{"model file '" + path + "' has no tensors"};
  return file;
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

Expected<InventoryFile> read_inventory(std::string_view name) {
  const bool path = name.find('/') != std::string_view::npos || name.ends_with(".csv");
  const fs::path file = path ? fs::path(name) : models_directory() / (std::string(name) + ".csv");
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    return Error{(path ? "there is no model file '" + file.string() + "'"
                       : "there is no inventory '" + std::string(name) + "'") +
                 "; choose one of: " + inventory_names() + ", or give the path of a .csv file"};
  try {
    Reader reader(file.string());
    return read_rows(reader, file.string());
  } catch (const std::exception& broken) {
    return Error{"model file '" + file.string() + "' cannot be read: " + broken.what()};
  }
}

}  // namespace steelyard
