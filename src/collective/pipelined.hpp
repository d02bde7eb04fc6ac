#pragma once

/// @file
/// A backend whose algorithm is a schedule.

#include <deque>
#include <utility>

#include "src/collective/collective.hpp"
#include "src/collective/pipeline.hpp"

namespace steelyard {

/// What `rank` of `ranks` does to replace `data` by the sum over all: a pure function.
using Plan = void(Schedule& schedule, std::span<float> data, Rank rank, int ranks);
Plan plan_ring;
Plan plan_recursive;

class PipelinedCollective final : public Collective {
 public:
  /// Collective: messages get a communicator of their own.
  /// @param segment elements of a message; 0: what suits the nodes of `workers`.
  PipelinedCollective(const mpi::Communicator& workers, Plan& plan, Wire wire, std::size_t segment = 0)
      : ranks_(workers.duplicate()),
        plan_(plan),
        wire_(wire),
        segment_(segment > 0 ? segment : Schedule::segment_for(mpi::spans_nodes(workers))) {}

  int add(std::span<float> data) override {
    const int number = static_cast<int>(pipelines_.size());
    Schedule schedule(segment_);
    plan_(schedule, data, ranks_.rank(), ranks_.size());
    pipelines_.emplace_back(ranks_, std::move(schedule), wire_, number);
    return number;
  }
  void start(int number) override { pipelines_[static_cast<std::size_t>(number)].start(); }
  bool test(int number) override {
    bool done = true;
    for (std::size_t i = 0; i < pipelines_.size(); ++i) {
      const bool one = pipelines_[i].test();
      if (i == static_cast<std::size_t>(number)) done = one;
    }
    return done;
  }

 private:
  mpi::Communicator ranks_;
  Plan& plan_;
  Wire wire_;
  std::size_t segment_;
  std::deque<Pipeline> pipelines_;
};

}  // namespace steelyard
