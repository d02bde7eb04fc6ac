#pragma once

/// @file
/// Allreduce over the workers, started and advanced without blocking.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"
#include "src/collective/wire.hpp"
#include "src/mpi/communicator.hpp"
#include "src/mpi/wait.hpp"

namespace steelyard {

/// Buffers are registered once; then each may be reduced any number of times. Every call is collective: same
/// order and same counts on every rank of the communicator that the backend was made with.
class Collective {
 public:
  virtual ~Collective() = default;

  /// Set-up: registers `data` [count], which stays in place. Allocates what its reductions need.
  /// @return the number of the buffer, from 0.
  virtual int add(std::span<float> data) = 0;
  /// Begins to replace buffer `number` by its elementwise sum over all ranks.
  virtual void start(int number) = 0;
  /// Advances every reduction under way; never blocks. @return whether that of `number` is complete.
  virtual bool test(int number) = 0;
};

/// What `auto` measured: the median of some repetitions, the greatest over the ranks.
struct CollectiveTiming {
  std::string backend;
  std::int64_t ns = 0;
};
/// What `auto` takes for one buffer. No timings where there was nothing to choose from.
struct CollectiveChoice {
  std::size_t bytes = 0;
  std::string chosen;
  std::vector<CollectiveTiming> timings;
};

struct CollectiveOptions {
  Wire wire = Wire::fp32;  ///< In which numbers travel; after a reduction all ranks still have the same bits.
  bool deterministic = false;                        ///< Only auto: takes no choice by timing.
  mpi::Wait wait = mpi::Wait::yield;                 ///< Only auto: how ranks wait while it times.
  std::vector<CollectiveChoice>* choices = nullptr;  ///< Only auto: gets one for each buffer added.
};

/// @param name one of collectives.def.
/// @param workers must outlive the result.
Expected<std::unique_ptr<Collective>> make_collective(std::string_view name, const mpi::Communicator& workers,
                                                      const CollectiveOptions& options = {});
/// Whether there is a backend of that name; else the error that lists them.
Status check_collective(std::string_view name);
std::string collective_help();

/// What one rank sends in one allreduce of `bytes` over `ranks` ranks if it is done as a ring: the least that
/// any algorithm can (Patarasuk and Yuan 2009).
std::size_t allreduce_bytes_sent(std::size_t bytes, int ranks);

}  // namespace steelyard
