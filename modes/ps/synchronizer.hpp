#pragma once

#include <vector>

#include "modes/mode.hpp"
#include "modes/ps/plan.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard::ps {

/// A worker's end of the conversation. A bundle's push starts when its last gradient is ready, straight from
/// the gradient arena; the receive of its reply, straight into the value arena, has been posted just before.
/// The next forward pass waits layer by layer.
class PsSynchronizer final : public Synchronizer {
 public:
  PsSynchronizer(Session& session, const Plan& plan, Parameters& parameters, int worker);

  void values_needed(TensorId tensor) override;
  void gradient_ready(TensorId tensor) override;
  void finish_step(Step step, bool last) override;

 private:
  struct Exchange {
    int first_send = 0;  ///< Request; a piece has a second one behind it.
    int first_receive = 0;
    std::size_t missing = 0;   ///< Tensors whose gradient is not ready.
    int sends = 0;             ///< Not yet complete.
    int receives = 0;          ///< Not yet complete.
    std::int64_t version = 0;  ///< Of the values here.
    bool idle() const { return sends == 0 && receives == 0; }
  };

  void add_requests(BundleId id);
  void push(BundleId id);
  /// Gives MPI a chance to move data and notes what has become complete.
  void progress();
  void complete(int request);
  void accept_reply(BundleId id);
  void await(BundleId id);

  Session& session_;
  const Plan& plan_;
  Parameters& parameters_;
  int worker_;
  mpi::Requests requests_;
  std::vector<BundleId> bundle_of_request_;
  std::vector<Exchange> exchanges_;  ///< [bundles]
};

}  // namespace steelyard::ps
