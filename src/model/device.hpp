#pragma once

/// @file
/// What models need of a device, for code that is built without CUDA too.

#include <memory>

#include "src/model/emulation.hpp"
#include "src/model/model.hpp"

namespace steelyard {

/// @param stream must outlive the result, and is where reads wait for what was queued before.
std::unique_ptr<RemoteMemory> make_device_memory(const cuda::Stream& stream);

/// replay on request.stream: gradients are written, values compared and time spent by kernels.
std::unique_ptr<Model> make_device_replay(const ModelRequest& request, ComputePlan plan);

}  // namespace steelyard
