#pragma once

#include <vector>

#include "modes/mode.hpp"
#include "modes/ps/worker_channel.hpp"

namespace steelyard::ps {

/// Pushes and pulls for a worker. A bundle's push starts when its last gradient is ready, straight from the
/// gradient arena, and its reply arrives straight in the value arena. The next forward pass waits layer by
/// layer.
class PsSynchronizer final : public Synchronizer {
 public:
  /// All are borrowed.
  PsSynchronizer(Session& session, const WorkerSide& side, Parameters& parameters);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void finish_step(Step step, bool last) override;
  void progress() override;

 private:
  struct Exchange {
    std::size_t missing = 0;   ///< Tensors whose gradient is not ready.
    bool answered = true;      ///< The last push has its reply.
    std::int64_t version = 0;  ///< Of the values here.
  };

  void push(BundleId id);
  void note(std::span<const WorkerChannel::Arrival> arrivals);
  void await(BundleId id);

  Session& session_;
  const WorkerSide& side_;
  const Plan& plan_;
  WorkerChannel channel_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
  std::size_t unanswered_ = 0;       ///< Pushes without a reply.
  mpi::Chance chance_;
};

}  // namespace steelyard::ps
