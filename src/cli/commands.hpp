#pragma once

/// @file
/// One function per command. @return the exit code.

#include "src/cli/launch.hpp"
#include "src/cli/options.hpp"

namespace steelyard::cli {

/// How the program was started, for the manifest.
struct Invocation {
  int argc;
  const char* const* argv;
  char** environment;
};

/// Collective over all ranks.
int train(const Options& options, const Invocation& invocation);
/// Collective over all ranks.
int compare(const Options& options, const Invocation& invocation);
/// Without MPI.
int inspect(const Options& options);
/// Without MPI.
int export_run(const Options& options);
/// Without MPI.
int collect(const Options& options);
/// Without MPI.
int place(const Options& options);

}  // namespace steelyard::cli
