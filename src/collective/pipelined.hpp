#pragma once

/// @file
/// A backend whose algorithm is a schedule.

#include <deque>

#include "src/collective/collective.hpp"
#include "src/collective/pipeline.hpp"

namespace steelyard {

/// @param data [count] of the caller's rank of `ranks`.
using Plan = Schedule(std::span<float> data, const mpi::Communicator& ranks);

class PipelinedCollective final : public Collective {
 public:
  /// Collective: messages get a communicator of their own.
  PipelinedCollective(const mpi::Communicator& workers, Plan& plan)
      : ranks_(workers.duplicate()), plan_(plan) {}

  int add(std::span<float> data) override {
    const int number = static_cast<int>(pipelines_.size());
    pipelines_.emplace_back(ranks_, plan_(data, ranks_), number);
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
  std::deque<Pipeline> pipelines_;
};

}  // namespace steelyard
