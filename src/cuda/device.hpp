#pragma once

/// @file
/// Which GPU a rank takes. This header is there in builds without CUDA too; the others of this folder are for
/// code in folders named cuda alone.

#include <string>
#include <string_view>

#include "src/base/expected.hpp"

namespace steelyard::cuda {

/// "CUDA 13.0, sm_80, sm_90, PTX of sm_90", as this program was built; "" without CUDA.
std::string_view build_text();

struct Device {
  int index = 0;     ///< Among those that this process sees.
  std::string name;  ///< "NVIDIA H200"
  std::string bus;   ///< PCI address, which two ranks of one node share only if they share the device.
};

/// Takes device `local_rank` modulo the visible ones for this process, and starts CUDA on it. A rank that
/// sees a single one, as some launchers arrange it, takes that.
/// @param local_rank among the ranks of this node, from MPI and not from the environment.
/// @return an error with CUDA's own reason where no device can be used.
Expected<Device> take_device(int local_rank);

}  // namespace steelyard::cuda
