#pragma once

/// @file
/// What all readers of model files check, and the limits that all keep.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/model/dtype.hpp"
#include "src/model/inventory_file.hpp"

namespace steelyard::readers {

inline constexpr std::size_t kMostElements = std::size_t{1} << 44U;
inline constexpr std::size_t kMostTensors = std::size_t{1} << 20U;
inline constexpr std::size_t kMostAxes = 64;
inline constexpr std::size_t kMostNameBytes = 4096;
/// Of text that is read whole; the limit that the safetensors library sets for its header.
inline constexpr std::size_t kMostTextBytes = 100'000'000;

using Shape = std::vector<std::size_t>;

/// "64x3x7x7". @return nothing where it is no shape; a scalar is the empty text.
std::optional<Shape> parse_shape(std::string_view text);

/// @return the product of the sizes, 0 where one is 0; nothing where there are more than kMostElements.
std::optional<std::size_t> count_elements(const Shape& shape);

/// A name as it may stand in a message: short, and without control characters.
std::string shown(std::string_view name);

/// Collects tensors in creation order. A name may come once; finding that costs O(log n).
class Builder {
 public:
  /// @param multiply_adds none: as many as there are elements.
  /// @return what is wrong with the tensor, without the file's name.
  std::optional<std::string> add(const std::string& name, Shape shape, const Dtype& dtype,
                                 std::optional<double> multiply_adds = std::nullopt);
  bool has(const std::string& name) const { return names_.contains(name); }
  std::size_t size() const { return file_.inventory.size(); }

  /// @return the file, or the error that it has no tensors.
  Expected<InventoryFile> finish(const std::string& path) &&;

 private:
  InventoryFile file_;
  std::set<std::string> names_;
  std::size_t elements_ = 0;
};

/// "model file 'a.csv' WHY"
Error wrong(const std::string& path, const std::string& why);

}  // namespace steelyard::readers
