#pragma once

/// @file
/// `--slow link=A-B:bandwidth=F` at work.

#include <optional>

#include "modes/trial.hpp"
#include "src/mpi/slow_links.hpp"

namespace steelyard {

/// From construction to destruction the messages of a trial go through its slow links. Without any it does
/// nothing.
class LinkDelays {
 public:
  /// Collective over session.world: measures the bandwidth that each slow link has.
  explicit LinkDelays(const Session& session);

 private:
  std::optional<mpi::SlowLinks> links_;
};

}  // namespace steelyard
