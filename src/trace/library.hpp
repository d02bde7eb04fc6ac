#pragma once

#include <string>

namespace steelyard::trace {

/// "HDF5 1.10.8", the one that is loaded.
std::string library_version();

}  // namespace steelyard::trace
