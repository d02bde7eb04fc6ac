#pragma once

/// @file
/// The pipelines of one backend, over a communicator of their own.

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "src/collective/pipeline.hpp"

namespace steelyard {

/// What `rank` of `ranks` does to replace `data` by the sum over all, or to do a part of that: a pure
/// function.
using Plan = void(Schedule& schedule, std::span<float> data, Rank rank, int ranks);

class Pipelines {
 public:
  /// Collective. @param segment elements of a message; 0: what suits the nodes of `workers`.
  Pipelines(const mpi::Communicator& workers, std::size_t segment)
      : ranks_(workers.duplicate()),
        segment_(segment > 0 ? segment : Schedule::segment_for(mpi::spans_nodes(workers))) {}

  Rank rank() const { return ranks_.rank(); }
  int ranks() const { return ranks_.size(); }

  /// Set-up. @return the number of the pipeline, from 0.
  int add(Plan& plan, std::span<float> data, Wire wire) {
    const int number = static_cast<int>(pipelines_.size());
    Schedule schedule(segment_);
    plan(schedule, data, ranks_.rank(), ranks_.size());
    pipelines_.emplace_back(ranks_, std::move(schedule), wire, number);
    under_way_.reserve(pipelines_.size());
    return number;
  }

  void start(int number) {
    pipelines_[static_cast<std::size_t>(number)].start();
    under_way_.push_back(number);
  }

  /// Advances all, the one started first before the others; never blocks.
  void advance() {
    std::erase_if(under_way_,
                  [this](int number) { return pipelines_[static_cast<std::size_t>(number)].test(); });
  }
  bool done(int number) const { return pipelines_[static_cast<std::size_t>(number)].done(); }

 private:
  mpi::Communicator ranks_;
  std::size_t segment_;
  std::deque<Pipeline> pipelines_;
  std::vector<int> under_way_;  ///< In the order in which they were started.
};

}  // namespace steelyard
