#include "modes/allreduce/device.hpp"

#include <variant>

#include "kernels/cuda/update.hpp"
#include "modes/allreduce/cuda/nccl_synchronizer.hpp"
#include "modes/allreduce/full_buckets.hpp"
#include "src/cuda/buffer.hpp"
#include "src/model/device.hpp"

namespace steelyard::allreduce {
namespace {

/// Of one worker: what is queued on the stream runs in order, so the next forward pass, queued behind the
/// updates, need not wait for anything.
class DeviceSynchronizer final : public Synchronizer {
 public:
  DeviceSynchronizer(const cuda::Stream& stream, const BucketPlan& plan, Parameters& parameters,
                     const Optimizer& optimizer)
      : stream_(stream),
        plan_(plan),
        parameters_(parameters),
        optimizer_(optimizer),
        full_(plan),
        state_(plan.layout.elements * optimizer.state_per_element()) {}

  void values_needed(TensorId) override {}
  void gradient_ready(TensorId tensor) override {
    full_.ready(tensor, [this](std::size_t bucket) { update(plan_.buckets[bucket]); });
  }
  void finish_step(Step step, bool) override {
    full_.next_step();
    updates_ = step + 1;
  }

 private:
  void update(const Bucket& bucket) {
    float* const values = parameters_.value_arena().data() + bucket.begin;
    const kernels::UpdateArrays arrays{elements(bucket), values,
                                       parameters_.gradient_arena().data() + bucket.begin, values,
                                       state_.data() + bucket.begin * optimizer_.state_per_element()};
    std::visit([&](const auto& rule) { kernels::update(stream_.queue(), rule, arrays); },
               optimizer_.rule(updates_ + 1));
  }

  const cuda::Stream& stream_;
  const BucketPlan& plan_;
  Parameters& parameters_;
  const Optimizer& optimizer_;
  FullBuckets full_;
  cuda::DeviceBuffer<float> state_;  ///< Of the buckets, one behind the other.
  std::int64_t updates_ = 0;         ///< That every bucket has behind it.
};

/// Collective. None where a lone worker need not be summed with others.
std::unique_ptr<NcclGroup> make_group(const Session& session) {
  const TrialConfig& config = session.config;
  if (session.workers.size() == 1 && config.collective != "nccl") return nullptr;
  const std::string algorithm = config.nccl_algorithm == "auto" ? "" : config.nccl_algorithm;
  return std::make_unique<NcclGroup>(session.workers, NcclOptions{algorithm, config.timeout_s});
}

}  // namespace

void run_on_device(Session& session, BucketPlan plan, const Optimizer& optimizer, Share share) {
  const std::int64_t begin_ns = session.recorder.now_ns();
  const cuda::Stream stream;
  const auto memory = make_device_memory(stream);
  plan = in_whole_lines(std::move(plan), session.model.inventory);
  Parameters parameters(session.model.inventory, plan.layout, {{}, {}, memory.get()});
  parameters.initialise(session.config.seed);
  const auto group = make_group(session);
  std::unique_ptr<Synchronizer> synchronizer;
  if (group == nullptr)
    synchronizer = std::make_unique<DeviceSynchronizer>(stream, plan, parameters, optimizer);
  else
    synchronizer = std::make_unique<NcclSynchronizer>(session, plan, parameters, *group, stream, optimizer);
  const auto model = make_model(session, share, true, &stream);
  session.choosing_ns = session.recorder.now_ns() - begin_ns;
  Worker self{share, *model, parameters, *synchronizer};
  worker_loop(session, self);
  conclude(session, self);
  stream.finish();  // Nothing is freed that a kernel may still use.
}

}  // namespace steelyard::allreduce
