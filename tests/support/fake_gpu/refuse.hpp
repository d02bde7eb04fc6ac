#pragma once

/// @file
/// Marks what the library shows, and ends a process that asks for what it does not stand in for.

#include <string>

#define FAKE_GPU_API extern "C" __attribute__((visibility("default")))

namespace steelyard::fake_gpu {

/// Exit code of a process that used CUDA or NCCL wrongly, or beyond what this library covers.
inline constexpr int kRefused = 97;

/// Writes "fake_gpu: <what>" on stderr and ends the process with kRefused, whatever its threads do.
[[noreturn]] void refuse(const std::string& what);

/// "0x7f3a1c000100"
std::string text_of(const void* address);

}  // namespace steelyard::fake_gpu
