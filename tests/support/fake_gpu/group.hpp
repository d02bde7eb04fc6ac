#pragma once

/// @file
/// Operations on their way from a call of NCCL to a stream, alone or as a group.

#include <nccl.h>

#include <memory>

#include "tests/support/fake_gpu/communicator.hpp"
#include "tests/support/fake_gpu/operation.hpp"

namespace steelyard::fake_gpu {

void begin_group();
ncclResult_t end_group();

/// Refuses buffers that are not on the communicator's device; then queues the operation, or keeps it until
/// the thread's group ends. Faults strike here.
ncclResult_t submit(const std::shared_ptr<Communicator>& communicator, Operation operation,
                    cudaStream_t stream);

}  // namespace steelyard::fake_gpu
