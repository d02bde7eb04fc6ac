#include "src/model/readers/builder.hpp"

#include <algorithm>
#include <charconv>

namespace steelyard::readers {

std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  const char* next = text.data();
  const char* const end = next + text.size();
  while (next != end) {
    std::size_t size = 0;
    const auto [rest, code] = std::from_chars(next, end, size);
    if (code != std::errc() || shape.size() == kMostAxes) return std::nullopt;
    shape.push_back(size);
    next = rest;
    if (next == end) break;
    if (*next != 'x' || ++next == end) return std::nullopt;
  }
  return shape;
}

std::optional<std::size_t> count_elements(const Shape& shape) {
  if (std::ranges::find(shape, std::size_t{0}) != shape.end()) return 0;
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    if (size > kMostElements / elements) return std::nullopt;
    elements *= size;
  }
  return elements;
}

std::string shown(std::string_view name) {
  constexpr std::size_t kMost = 100;
  std::string text(name.substr(0, kMost));
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
  return text + (name.size() > kMost ? "..." : "");
}

std::optional<std::string> Builder::add(const std::string& name, Shape shape, const Dtype& dtype,
                                        std::optional<double> multiply_adds) {
  if (name.empty()) return "a tensor has no name";
  if (name.size() > kMostNameBytes)
    return "the name '" + shown(name) + "' is longer than " + std::to_string(kMostNameBytes) + " bytes";
  const auto elements = count_elements(shape);
  if (shape.size() > kMostAxes || !elements || *elements == 0)
    return "the shape of '" + shown(name) + "' must have at most " + std::to_string(kMostAxes) +
           " sizes from 1, and at most 2^44 elements";
  if (multiply_adds && !(*multiply_adds >= 0.0 && *multiply_adds < 1e18))
    return "multiply_adds of '" + shown(name) + "' must be a number from 0 to 1e18";
  if (size() == kMostTensors) return "more than 1,048,576 tensors";
  elements_ += *elements;
  if (elements_ > kMostElements) return "more than 2^44 elements";
  if (!names_.insert(name).second) return "the name '" + shown(name) + "' is there twice";
  file_.operations.push_back(multiply_adds.value_or(static_cast<double>(*elements)));
  file_.inventory.push_back({name, std::move(shape), 0.0F, dtype.bytes, dtype.name});
  return std::nullopt;
}

Expected<InventoryFile> Builder::finish(const std::string& path) && {
  if (file_.inventory.empty()) return wrong(path, "has no tensors");
  return std::move(file_);
}

Error wrong(const std::string& path, const std::string& why) {
  return Error{"model file '" + path + "' " + why};
}

}  // namespace steelyard::readers
