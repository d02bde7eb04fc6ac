#pragma once

/// @file
/// A backend in two halves, each of which is a schedule.

#include <deque>
#include <utility>

#include "src/collective/pipelined.hpp"
#include "src/collective/split.hpp"

namespace steelyard {

/// The two halves of an algorithm, and the part of `data` that `rank` holds in between: pure functions.
struct SplitPlan {
  Plan* reduce_scatter;
  Plan* allgather;
  std::span<float> (*own)(std::span<float> data, Rank rank, int ranks);
};
extern const SplitPlan kRingSplit;
extern const SplitPlan kRecursiveSplit;

class PipelinedSplit final : public SplitCollective {
 public:
  /// Collective: messages get a communicator of their own.
  /// @param segment elements of a message; 0: what suits the nodes of `workers`.
  PipelinedSplit(const mpi::Communicator& workers, const SplitPlan& plan, Wire wire, std::size_t segment = 0)
      : ranks_(workers.duplicate()),
        plan_(plan),
        wire_(wire),
        segment_(segment > 0 ? segment : Schedule::segment_for(mpi::spans_nodes(workers))) {}

  OwnSlice add(std::span<float> summands, std::span<float> values) override {
    add_pipeline(*plan_.reduce_scatter, summands, wire_);
    add_pipeline(*plan_.allgather, values, Wire::fp32);
    const std::span<float> own = plan_.own(summands, ranks_.rank(), ranks_.size());
    const auto begin = static_cast<std::size_t>(own.data() - summands.data());
    return {begin, begin + own.size()};
  }
  void start_reduce_scatter(int number) override { pipelines_[first_of(number)].start(); }
  void start_allgather(int number) override { pipelines_[first_of(number) + 1].start(); }
  bool test(int number) override {
    bool done = true;
    for (std::size_t i = 0; i < pipelines_.size(); ++i) {
      const bool one = pipelines_[i].test();
      if (i / 2 == static_cast<std::size_t>(number)) done = done && one;
    }
    return done;
  }

 private:
  static std::size_t first_of(int number) { return 2 * static_cast<std::size_t>(number); }

  void add_pipeline(Plan& plan, std::span<float> data, Wire wire) {
    Schedule schedule(segment_);
    plan(schedule, data, ranks_.rank(), ranks_.size());
    const int tag = static_cast<int>(pipelines_.size());
    pipelines_.emplace_back(ranks_, std::move(schedule), wire, tag);
  }

  mpi::Communicator ranks_;
  const SplitPlan& plan_;
  Wire wire_;
  std::size_t segment_;
  std::deque<Pipeline> pipelines_;  ///< Of every pair the reduce-scatter, then the allgather.
};

}  // namespace steelyard
