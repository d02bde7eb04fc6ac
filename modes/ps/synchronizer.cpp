#include "modes/ps/synchronizer.hpp"

#include <algorithm>

namespace steelyard::ps {

using trace::Phase;

PsSynchronizer::PsSynchronizer(Session& session, const WorkerSide& side, Parameters& parameters)
    : session_(session),
      side_(side),
      plan_(side.plan),
      channel_(session, side, parameters),
      exchanges_(side.plan.bundles.size()),
      versions_(side.plan.bundles.size()),
      recomputes_(session.config.staleness_options.recompute),
      skips_(session.config.consistency_options.backup_workers > 0) {
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
    if (--exchanges_[id].missing == 0 && (!again_ || exchanges_[id].again)) push(id);
  progress();
}

void PsSynchronizer::progress() {
  if (unanswered_ == 0) return;
  chance_.use([this] {
    note(channel_.poll());
    return unanswered_ == 0 || channel_.by_memory_alone();
  });
}

bool PsSynchronizer::is_last(bool last, bool gives_up) {
  stop_ = stop_ || heard_stop_ || gives_up;
  last_ = last || stop_;
  return last_;
}

Header PsSynchronizer::push_header(BundleId id) const {
  Header header;
  header.kind = Kind::push;
  header.bundle = id;
  header.worker = side_.source_at[static_cast<std::size_t>(plan_.bundles[id].server)];
  header.flags = (last_ ? kLast : 0U) | (stop_ ? kStop : 0U);
  header.clock = session_.recorder.step() + 1;
  header.version = exchanges_[id].version;
  return header;
}

void PsSynchronizer::push(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  const std::int64_t begin_ns = session_.recorder.now_ns();
  exchanges_[id].answered = false;
  exchanges_[id].again = false;
  ++unanswered_;
  channel_.push(id, push_header(id));
  const Moved moved = channel_.pushed(id);
  session_.recorder.count_sent(moved.bytes, moved.messages);
  session_.recorder.event(Phase::push, session_.recorder.step(), begin_ns,
                          session_.roles.servers[static_cast<std::size_t>(bundle.server)],
                          static_cast<int>(bundle.shards.front()), moved.bytes);
}

void PsSynchronizer::note(std::span<const WorkerChannel::Arrival> arrivals) {
  for (const WorkerChannel::Arrival& arrival : arrivals) {
    Exchange& exchange = exchanges_[arrival.bundle];
    require(!exchange.answered && arrival.version > exchange.version,
            "a reply answers a push and carries newer values than the one before");
    exchange.answered = true;
    const bool dropped = (arrival.flags & kDropped) != 0;
    const bool stops = (arrival.flags & kStop) != 0;
    // A server that ends the training waits for nothing to be made again; one that did not know yet does.
    exchange.again = recomputes_ && dropped && !stops;
    versions_.advance(exchange.version, arrival.version);
    exchange.version = arrival.version;
    exchange.waited_for = other_worker(arrival);
    heard_stop_ = heard_stop_ || stops;
    --unanswered_;
    session_.drops += dropped ? 1 : 0;
    const Moved moved = channel_.pulled(arrival.bundle);
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
  const std::int64_t begin_ns = session_.recorder.now_ns();
  while (!exchange.answered) note(channel_.wait());
  record_read(id, begin_ns);
}

int PsSynchronizer::other_worker(const WorkerChannel::Arrival& arrival) const {
  const auto server = static_cast<std::size_t>(plan_.bundles[arrival.bundle].server);
  if (arrival.completed_by == side_.source_at[server]) return -1;
  return side_.worker_of_source[server][static_cast<std::size_t>(arrival.completed_by)];
}

void PsSynchronizer::record_read(BundleId id, std::int64_t begin_ns) {
  const trace::Recorder& recorder = session_.recorder;
  session_.recorder.add(trace::ReadRow{recorder.trial(), recorder.step(),
                                       static_cast<std::int32_t>(plan_.bundles[id].shards.front()),
                                       recorder.now_ns() - begin_ns, exchanges_[id].waited_for,
                                       static_cast<std::int32_t>(versions_.spread())});
}

void PsSynchronizer::await_all() {
  for (BundleId id = 0; id < exchanges_.size(); ++id) await(id);
}

void PsSynchronizer::finish_step(Step, bool last) {
  for (BundleId id = 0; id < exchanges_.size(); ++id)
    exchanges_[id].missing = plan_.bundles[id].shards.size();
  if (last || recomputes_) await_all();
}

Step PsSynchronizer::next_step(Step step) {
  again_ = std::ranges::any_of(exchanges_, &Exchange::again);
  if (again_) return step;
  if (!skips_ || last_) return step + 1;
  return catch_up(step + 1);
}

Step PsSynchronizer::catch_up(Step next) {
  // Those whose pushes made an update of one bundle push that step of the others too.
  await_all();
  for (const Exchange& exchange : exchanges_) next = std::max<Step>(next, exchange.version);
  if (next < session_.config.steps) return next;
  leave();
  return session_.config.steps;
}

void PsSynchronizer::leave() {
  await_all();
  for (BundleId id = 0; id < exchanges_.size(); ++id) {
    Header header = push_header(id);
    header.flags = kLast | kNothing;
    header.clock = session_.config.steps;
    channel_.say_nothing(id, header);
  }
}

}  // namespace steelyard::ps
