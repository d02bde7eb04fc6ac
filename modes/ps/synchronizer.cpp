#include "modes/ps/synchronizer.hpp"

namespace steelyard::ps {

using trace::Phase;

PsSynchronizer::PsSynchronizer(Session& session, const WorkerSide& side, Parameters& parameters)
    : session_(session),
      side_(side),
      plan_(side.plan),
      channel_(session, side, parameters),
      exchanges_(side.plan.bundles.size()) {
  for (BundleId id = 0; id < plan_.bundles.size(); ++id)
    exchanges_[id].missing = plan_.bundles[id].shards.size();
}

void PsSynchronizer::values_needed(TensorId tensor) {
  progress();  // Layers behind this one arrive meanwhile.
  for (const BundleId id : plan_.bundles_of_tensor[tensor]) await(id);
}

void PsSynchronizer::gradient_ready(TensorId tensor) {
  const trace::Scope scope(session_.recorder, Phase::push);
  for (const BundleId id : plan_.bundles_of_tensor[tensor])
    if (--exchanges_[id].missing == 0) push(id);
  progress();
}

void PsSynchronizer::progress() {
  if (unanswered_ == 0) return;
  chance_.use([this] {
    note(channel_.poll());
    return unanswered_ == 0 || channel_.by_memory_alone();
  });
}

void PsSynchronizer::push(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  Exchange& exchange = exchanges_[id];
  const Step step = session_.recorder.step();
  Header header;
  header.kind = Kind::push;
  header.bundle = id;
  header.worker = side_.source_at[static_cast<std::size_t>(bundle.server)];
  header.clock = step + 1;
  header.version = exchange.version;

  const std::int64_t begin_ns = session_.recorder.now_ns();
  exchange.answered = false;
  ++unanswered_;
  channel_.push(id, header);
  const Moved moved = channel_.pushed(id);
  session_.recorder.count_sent(moved.bytes, moved.messages);
  session_.recorder.event(Phase::push, step, begin_ns,
                          session_.roles.servers[static_cast<std::size_t>(bundle.server)],
                          static_cast<int>(bundle.shards.front()), moved.bytes);
}

void PsSynchronizer::note(std::span<const WorkerChannel::Arrival> arrivals) {
  for (const auto& [id, version] : arrivals) {
    Exchange& exchange = exchanges_[id];
    require(!exchange.answered && version > exchange.version,
            "a reply answers a push and carries newer values than the one before");
    exchange.answered = true;
    exchange.version = version;
    --unanswered_;
    const Moved moved = channel_.pulled(id);
    session_.recorder.count_received(moved.bytes, moved.messages);
  }
}

void PsSynchronizer::await(BundleId id) {
  const Exchange& exchange = exchanges_[id];
  if (exchange.answered) return;
  const Bundle& bundle = plan_.bundles[id];
  const trace::Scope scope(session_.recorder, Phase::wait,
                           session_.roles.servers[static_cast<std::size_t>(bundle.server)],
                           static_cast<int>(bundle.shards.front()), bundle.bytes());
  while (!exchange.answered) note(channel_.wait());
}

void PsSynchronizer::finish_step(Step, bool last) {
  for (BundleId id = 0; id < exchanges_.size(); ++id) {
    exchanges_[id].missing = plan_.bundles[id].shards.size();
    if (last) await(id);
  }
}

}  // namespace steelyard::ps
