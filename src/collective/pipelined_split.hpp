#pragma once

/// @file
/// A backend in two halves, each of which is a schedule.

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
  /// Collective. @param segment as of Pipelines.
  PipelinedSplit(const mpi::Communicator& workers, const SplitPlan& plan, Wire wire, std::size_t segment = 0)
      : pipelines_(workers, segment), plan_(plan), wire_(wire) {}

  OwnSlice add(std::span<float> summands, std::span<float> values) override {
    pipelines_.add(*plan_.reduce_scatter, summands, wire_);
    pipelines_.add(*plan_.allgather, values, Wire::fp32);
    const std::span<float> own = plan_.own(summands, pipelines_.rank(), pipelines_.ranks());
    const auto begin = static_cast<std::size_t>(own.data() - summands.data());
    return {begin, begin + own.size()};
  }
  void start_reduce_scatter(int number) override { pipelines_.start(2 * number); }
  void start_allgather(int number) override { pipelines_.start(2 * number + 1); }
  bool test(int number) override {
    pipelines_.advance();
    return pipelines_.done(2 * number) && pipelines_.done(2 * number + 1);
  }

 private:
  Pipelines pipelines_;  ///< Of every pair the reduce-scatter, then the allgather.
  const SplitPlan& plan_;
  Wire wire_;
};

}  // namespace steelyard
