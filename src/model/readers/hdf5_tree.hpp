#pragma once

/// @file
/// Groups, text attributes and datasets of a file that is not trusted: every call may fail, and every count
/// is bounded.

#include <hdf5.h>

#include <optional>
#include <string>
#include <vector>

#include "src/model/readers/builder.hpp"
#include "src/model/readers/hdf5_window.hpp"

namespace steelyard::readers {

struct Hdf5Tensor {
  Shape shape;
  std::string dtype;        ///< A name of dtype.hpp; empty: another type.
  std::size_t address = 0;  ///< In the file: of two datasets, the one written later mostly has the higher.
};

Hdf5Id open_object(hid_t parent, const std::string& path);
bool is_group(hid_t object);

/// Names of the hard links in a group, by name; soft and external links are not followed.
std::vector<std::string> members(hid_t group);

/// A text attribute of one or several values, or one that is cut into NAME0, NAME1, ... as Keras does where
/// it is longer than 64 KB. Nothing where it is missing or no text.
std::optional<std::vector<std::string>> text_attribute(hid_t object, const std::string& name);

/// @return nothing where the object is no dataset.
std::optional<Hdf5Tensor> describe_dataset(hid_t object);

}  // namespace steelyard::readers
