#pragma once

/// @file
/// Files that options name for the output. A path that cannot be opened is bad input (exit code 2), found
/// before the work begins; a write that fails later is not (1).

#include <string>

#include "src/base/expected.hpp"

namespace steelyard::cli {

/// Opens `path`, making it where it is not there. "" and "-" are good. @return an error that names both.
Status check_path(const std::string& option, const std::string& path);

/// To a file or, for "-", to standard output. @return an error that names option and file.
Status write_text(const std::string& option, const std::string& path, const std::string& text);

}  // namespace steelyard::cli
