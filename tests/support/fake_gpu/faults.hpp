#pragma once

/// @file
/// What the environment asks of the stand-in; read once, at the first call.
///
///     STEELYARD_FAKE_GPU_DEVICES=n       devices of this node (1; 0: there is none)
///     STEELYARD_FAKE_GPU_MEMORY=bytes    memory of each device (1 GiB)
///     STEELYARD_FAKE_GPU_DELAY_US=n      each copy, kernel and collective begins so much later than it could
///     (0) STEELYARD_FAKE_GPU_FAULT=kind:k[@rank][,kind:k[@rank]...]
///
/// A fault strikes once, at the k-th time (from 1) that this process does what it counts, in every process or
/// only in the one whose launcher calls it `rank` (OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or
/// SLURM_PROCID):
///
///     mismatch       k-th operation of NCCL: has one element less than the caller said
///     silent         k-th operation of NCCL: is never carried out, until the communicator is aborted
///     async_error    k-th operation of NCCL: fails; ncclCommGetAsyncError says ncclSystemError here and
///                    ncclRemoteError at the peers, and what is queued stays unfinished until it is aborted
///     death_at_init  k-th communicator: the process is killed when it joins
///     out_of_memory  k-th allocation on a device: there is no memory
///     device_lost    k-th copy, fill, kernel or operation of NCCL: it and all later calls give
///                    cudaErrorLaunchFailure, and nothing that is queued is carried out any more
///
/// Two ranks on one device need no fault: more ranks than devices, and NCCL gives ncclInvalidUsage.
/// Anything else in these variables is refused.

#include <chrono>
#include <cstddef>

namespace steelyard::fake_gpu {

enum class Fault { mismatch, silent, async_error, death_at_init, out_of_memory, device_lost };

/// Counts this occasion; true if the fault strikes at it. Safe in any thread.
bool strikes(Fault fault);

int devices();
std::size_t device_memory();
std::chrono::microseconds delay();

}  // namespace steelyard::fake_gpu
