#pragma once

/// @file
/// Work on hostile input by a library that may crash on it, in a process of its own.

#include <cstddef>
#include <functional>
#include <string>

#include "src/base/expected.hpp"

namespace steelyard {

struct GuardLimits {
  std::size_t memory_bytes = std::size_t{1} << 30U;  ///< More than this process has now.
  std::size_t result_bytes = std::size_t{1} << 28U;
  int seconds = 20;           ///< Of time that passes, as when a file system is slow.
  int processor_seconds = 5;  ///< Of work, as in an endless loop.
};

/// Runs `work` in a copy of this process, which has its memory and open files but no threads, and which
/// writes nothing to the terminal. `work` must not touch MPI.
/// @return what `work` returned. An error is half a sentence: "crashed (signal 11)", "took longer than 20 s".
Expected<std::string> run_guarded(const std::function<std::string()>& work, const GuardLimits& limits = {});

}  // namespace steelyard
