#pragma once

/// @file
/// Every kernel of kernels/cuda has the name and the arguments of its twin in kernels/cpu, behind a Queue.
/// Pointers are of the device, aligned to their type; kernels run in the order in which they are queued, and
/// calls return before they have run.

struct CUstream_st;

namespace steelyard::kernels {

/// A stream of the device, and who is told when a kernel cannot be queued there.
struct Queue {
  CUstream_st* stream = nullptr;
  void (*fail)(const char* kernel, const char* reason) = nullptr;  ///< Does not return.
};

}  // namespace steelyard::kernels
