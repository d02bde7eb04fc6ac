#pragma once

/// @file
/// One function per format, `read_<format>`. A file is never trusted: sizes, offsets, depth and counts are
/// checked, and none costs more memory than its own names and shapes do.

#include <string>

#include "src/base/expected.hpp"
#include "src/model/inventory_file.hpp"

namespace steelyard::readers {

/// @param path of a file. Errors name it and what is wrong.
using ReadFile = Expected<InventoryFile>(const std::string& path);

#define READER(format, ending, help) ReadFile read_##format;
#include "src/model/readers/readers.def"
#undef READER

}  // namespace steelyard::readers
