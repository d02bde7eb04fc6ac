#pragma once

#include <vector>

#include "modes/mode.hpp"
#include "modes/ps/version_spread.hpp"
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
  bool is_last(bool last, bool gives_up) override;
  void finish_step(Step step, bool last) override;
  Step next_step(Step step) override;
  void progress() override;

 private:
  struct Exchange {
    std::size_t missing = 0;   ///< Tensors whose gradient is not ready.
    bool answered = true;      ///< The last push has its reply.
    bool again = false;        ///< And is to be made anew.
    std::int64_t version = 0;  ///< Of the values here.
    int waited_for = -1;       ///< Other worker whose push let the read be answered.
  };

  Header push_header(BundleId id) const;
  void push(BundleId id);
  void note(std::span<const WorkerChannel::Arrival> arrivals);
  void await(BundleId id);
  /// Worker whose push let the read be answered; none if that was this worker's own.
  int other_worker(const WorkerChannel::Arrival& arrival) const;
  void record_read(BundleId id, std::int64_t begin_ns);
  void await_all();
  /// Where servers make the updates of steps without this worker: goes on with them, or ends with them.
  Step catch_up(Step next);
  void leave();

  Session& session_;
  const WorkerSide& side_;
  const Plan& plan_;
  WorkerChannel channel_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
  VersionSpread versions_;           ///< Of all exchanges.
  std::size_t unanswered_ = 0;       ///< Pushes without a reply.
  bool recomputes_;                  ///< A push that was dropped is made again.
  bool skips_;                       ///< Updates may do without this worker.
  bool again_ = false;               ///< The present pass makes anew what was dropped, and nothing else.
  bool last_ = false;                ///< The step under way is the last.
  bool stop_ = false;                ///< So the pushes of this step say: training ends early.
  bool heard_stop_ = false;          ///< So a reply has said; holds from the next step on.
  mpi::Chance chance_;
};

}  // namespace steelyard::ps
