#pragma once

/// @file
/// How far workers may drift apart. Two decisions, both pure.

#include <memory>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"
#include "src/base/types.hpp"

namespace steelyard::ps {

class Consistency {
 public:
  virtual ~Consistency() = default;

  /// May a worker that has completed `clock` steps read, while the slowest has completed `slowest`?
  virtual bool admits(Clock clock, Clock slowest) const = 0;

  /// How many pushes of a bundle are summed into one update.
  virtual int pushes_per_update(int workers) const = 0;
};

/// @param name one of consistencies.def.
Expected<std::unique_ptr<Consistency>> make_consistency(std::string_view name);
std::string consistency_help();

}  // namespace steelyard::ps
