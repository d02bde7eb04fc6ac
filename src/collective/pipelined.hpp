#pragma once

/// @file
/// A backend whose algorithm is a schedule.

#include "src/collective/collective.hpp"
#include "src/collective/pipelines.hpp"

namespace steelyard {

Plan plan_ring;
Plan plan_recursive;

class PipelinedCollective final : public Collective {
 public:
  /// Collective. @param segment as of Pipelines.
  PipelinedCollective(const mpi::Communicator& workers, Plan& plan, Wire wire, std::size_t segment = 0)
      : pipelines_(workers, segment), plan_(plan), wire_(wire) {}

  int add(std::span<float> data) override { return pipelines_.add(plan_, data, wire_); }
  void start(int number) override { pipelines_.start(number); }
  bool test(int number) override {
    pipelines_.advance();
    return pipelines_.done(number);
  }

 private:
  Pipelines pipelines_;
  Plan& plan_;
  Wire wire_;
};

}  // namespace steelyard
