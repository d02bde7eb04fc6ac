#pragma once

/// @file
/// How far workers may drift apart. Three questions, all pure.

#include <memory>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"
#include "src/base/types.hpp"

namespace steelyard::ps {

struct ConsistencyOptions {
  Clock max_lag = 3;       ///< ssp
  int backup_workers = 0;  ///< bsp

  bool operator==(const ConsistencyOptions&) const = default;
};

/// How far a bundle has come.
struct Reached {
  Clock slowest = 0;         ///< Steps that the slowest worker has pushed.
  std::int64_t version = 0;  ///< Updates of its values.
};

class Consistency {
 public:
  virtual ~Consistency() = default;

  /// May a worker that has completed `clock` steps read?
  virtual bool admits(Clock clock, const Reached& reached) const = 0;

  /// How many pushes of a bundle are summed into one update.
  virtual int pushes_per_update(int workers) const = 0;

  /// Whether an update takes the pushes of one step alone, that after the last update's. Those that come too
  /// late for theirs are dropped.
  virtual bool by_step() const = 0;
};

/// @param name one of consistencies.def.
Expected<std::unique_ptr<Consistency>> make_consistency(std::string_view name,
                                                        const ConsistencyOptions& options = {});
std::string consistency_help();

}  // namespace steelyard::ps
