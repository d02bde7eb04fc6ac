#include "modes/ps/meter.hpp"

#include <algorithm>

namespace steelyard::ps {

Meter::Meter(trace::Recorder& recorder, const ServerSide& side, Server& server)
    : recorder_(recorder), side_(side), server_(server), loads_(side.bundles().size()) {
  row_.trial = recorder.trial();
  row_.begin_ns = recorder.now_ns();
  at_begin_ = trace::cpu_use();
}

void Meter::begin_work() {
  work_cpu_ns_ = trace::cpu_ns();
  work_ns_ = recorder_.now_ns();
}

void Meter::end_work(int bundle, bool summed) {
  const std::int64_t busy_ns = trace::cpu_ns() - work_cpu_ns_;
  row_.busy_ns += busy_ns;
  loads_[static_cast<std::size_t>(bundle)].busy_ns += busy_ns;
  if (summed) row_.apply_ns += recorder_.now_ns() - work_ns_;
  row_.queue_max = std::max(row_.queue_max, static_cast<std::uint32_t>(server_.waiting()));
}

void Meter::count_push(int number, const Moved& moved) {
  ++row_.pushes;
  ++loads_[static_cast<std::size_t>(number)].pushes;
  loads_[static_cast<std::size_t>(number)].bytes += moved.bytes;
  row_.bytes_in += moved.bytes;
  row_.messages += moved.messages;
}

void Meter::count_reply(const Moved& moved) {
  ++row_.pulls;
  row_.bytes_out += moved.bytes;
  row_.messages += moved.messages;
}

void Meter::count_drops() {
  for (const Drop& one : server_.drops()) {
    ++row_.dropped;
    recorder_.add(trace::DropRow{recorder_.trial(), one.clock - 1, side_.source(one.worker).workers.front(),
                                 static_cast<std::int32_t>(side_.bundle(one.bundle).shards.front()),
                                 static_cast<std::int32_t>(one.staleness), one.age_ns, one.reason});
  }
  server_.drops().clear();
}

Step Meter::steps_pushed() const {
  const std::uint64_t per_step = side_.sources.size() * loads_.size();
  return per_step == 0 ? 0 : static_cast<Step>(server_.pushes() / per_step);
}

void Meter::close_if_due() {
  if (steps_pushed() >= static_cast<Step>(row_.window + 1) * kWindowSteps) close();
}

void Meter::finish() {
  if (row_.pushes > 0 || row_.window == 0) close();
}

void Meter::close() {
  const trace::CpuUse use = trace::cpu_use();
  row_.step = steps_pushed();
  row_.end_ns = recorder_.now_ns();
  row_.applied = server_.applied() - applied_before_;
  row_.cpu_ns = use.cpu_ns - at_begin_.cpu_ns;
  row_.involuntary_switches = use.involuntary_switches - at_begin_.involuntary_switches;
  recorder_.add(row_);
  write_shard_loads();
  write_staleness();
  applied_before_ = server_.applied();
  at_begin_ = use;
  const trace::LoadRow closed = row_;
  row_ = {};
  row_.trial = closed.trial;
  row_.window = closed.window + 1;
  row_.begin_ns = closed.end_ns;
}

void Meter::write_shard_loads() {
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const Bundle& bundle = side_.bundle(static_cast<int>(i));
    for (const ShardId shard : bundle.shards) {
      const std::size_t elements = side_.plan.shards[shard].elements();
      const double share = static_cast<double>(elements) / static_cast<double>(bundle.elements);
      recorder_.add(
          trace::ShardLoadRow{row_.trial, row_.window, static_cast<std::int32_t>(shard),
                              static_cast<std::int64_t>(static_cast<double>(loads_[i].busy_ns) * share),
                              loads_[i].pushes, loads_[i].bytes / bundle.elements * elements});
    }
    loads_[i] = {};
  }
}

void Meter::write_staleness() {
  for (int source = 0; source < static_cast<int>(side_.sources.size()); ++source) {
    const auto skew = static_cast<std::int32_t>(server_.take_skew(source));
    for (int number = 0; number < static_cast<int>(loads_.size()); ++number)
      for (StalenessCount& one : server_.staleness(source, number)) {
        if (one.count == 0) continue;
        recorder_.add(trace::StalenessRow{row_.trial, row_.window, side_.source(source).workers.front(),
                                          static_cast<std::int32_t>(side_.bundle(number).shards.front()),
                                          static_cast<std::int32_t>(one.staleness), one.count, one.age_ns,
                                          skew});
        one.count = 0;
        one.age_ns = 0;
      }
  }
}

}  // namespace steelyard::ps
