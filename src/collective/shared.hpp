#pragma once

/// @file
/// Allreduce through shared memory with nodes of the caller's choice.

#include <memory>

#include "src/collective/collective.hpp"

namespace steelyard {

/// Collective over `workers`. A narrow wire is that of the ring between nodes; within one nothing travels.
/// @param node the ranks that count as the caller's node: a part of `workers`, in its order, that shares
/// memory. Several such parts may share one machine.
std::unique_ptr<Collective> make_shared_collective_over(const mpi::Communicator& workers,
                                                        mpi::Communicator node,
                                                        const CollectiveOptions& options = {});

}  // namespace steelyard
