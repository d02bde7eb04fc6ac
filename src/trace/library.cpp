#include "src/trace/library.hpp"

#include <fmt/format.h>
#include <hdf5.h>

namespace steelyard::trace {

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("HDF5 {}.{}.{}", major, minor, release);
}

}  // namespace steelyard::trace
