#include "modes/ps/server.hpp"

#include <algorithm>
#include <utility>

#include "src/base/check.hpp"
#include "src/optim/fused.hpp"

namespace steelyard::ps {
namespace {

constexpr std::size_t kStalenessesReserved = 16;
constexpr double kNsPerS = 1e9;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Pushes that one pass over memory sums and applies. With more workers the first are summed while the last
/// are still to come.
constexpr std::size_t kParts = 4;

void count(std::vector<StalenessCount>& counts, std::int64_t staleness, std::int64_t age_ns) {
  for (StalenessCount& one : counts) {
    if (one.staleness != staleness) continue;
    ++one.count;
    one.age_ns += age_ns;
    return;
  }
  counts.push_back({staleness, 1, age_ns});
}

}  // namespace

Server::Server(const ServerOptions& options, const Rules& rules, std::span<const BundleId> ids,
               std::vector<BundleMemory> memory)
    : options_(options),
      rules_(rules),
      pushes_per_update_(rules.consistency.pushes_per_update(options.workers)),
      slots_(ids.size()),
      reads_(at(options.workers)),
      skew_(at(options.workers)),
      readers_(at(options.workers) * ids.size()) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].id = ids[i];
    slots_[i].memory = std::move(memory[i]);
    reserve(slots_[i], slots_[i].memory.values.front().size());
  }
  due_.reserve(readers_);
  drops_.reserve(readers_);
}

void Server::reserve(Slot& slot, std::size_t elements) {
  const std::size_t workers = at(options_.workers);
  const StalenessPolicy& policy = rules_.staleness;
  slot.state = AlignedArray<float>(elements * rules_.optimizer.state_per_element());
  if (at(pushes_per_update_) > kParts || policy.needs_values_read()) slot.sum = AlignedArray<float>(elements);
  if (policy.needs_worth()) slot.experience = Experience(elements);
  slot.readers.resize(workers);
  slot.arrived.reserve(workers);
  slot.added.reserve(workers);
  slot.parts.reserve(kParts);
  slot.in_flight.resize(at(options_.copies));
  for (Reader& reader : slot.readers) {
    reader.staleness.reserve(kStalenessesReserved);
    if (!policy.needs_values_read()) continue;
    reader.values = AlignedArray<float>(elements);
    std::ranges::copy(slot.memory.values.front(), reader.values.span().begin());
  }
}

std::span<const float> Server::values(int bundle) const {
  const Slot& slot = slots_[at(bundle)];
  return slot.memory.values[at(slot.copy)];
}

void Server::check(const Slot& slot, int worker, const Header& header) const {
  const Reader& reader = slot.readers[at(worker)];
  require(header.kind == Kind::push && header.bundle == slot.id && header.worker == worker,
          "a push arrives in the inbox of its worker and bundle");
  const bool skips = rules_.consistency.by_step() && pushes_per_update_ < options_.workers;
  require((header.clock == reader.clock + 1 || (skips && header.clock > reader.clock)) && !reader.unanswered,
          "a worker pushes each bundle exactly once per step, in order");
  require(header.version == reader.version, "a gradient belongs to the values that were sent last");
}

void Server::receive(int worker, int bundle, const Header& header, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  check(here, worker, header);
  Reader& reader = here.readers[at(worker)];
  reader.pushed = header.clock;
  reader.last = (header.flags & kLast) != 0;
  if ((header.flags & kNothing) != 0) {
    reader.clock = header.clock;
    ++closed_;
    return;
  }
  reader.unanswered = true;
  here.arrived.push_back(worker);
  ++pushes_;
  ++waiting_;
  if ((header.flags & kStop) == 0 || stopping_) {
    advance(bundle, now_ns);
    return;
  }
  stopping_ = true;
  for (std::size_t i = 0; i < slots_.size(); ++i) advance(static_cast<int>(i), now_ns);
}

void Server::sent(const Reply& reply, std::int64_t now_ns) {
  Slot& here = slot(reply.bundle);
  --here.in_flight[at(reply.copy)];
  if (stopping_ || !here.arrived.empty()) advance(reply.bundle, now_ns);
}

int Server::next_push(const Slot& slot) const {
  const auto next = std::ranges::find_if(slot.arrived, [&](int worker) {
    // A worker that has skipped steps may be ahead of a bundle whose pushes are still on their way.
    if (rules_.consistency.by_step() && slot.readers[at(worker)].pushed > slot.version + 1) return false;
    // The pushes in the sum are those of the workers 0, 1, ..., so the next is that of the worker after them.
    return !options_.in_worker_order || at(worker) == slot.added.size();
  });
  return next == slot.arrived.end() ? -1 : static_cast<int>(next - slot.arrived.begin());
}

int Server::writable_copy(const Slot& slot) const {
  for (int i = 0; i < options_.copies; ++i) {
    const int copy = (slot.copy + i) % options_.copies;
    if (slot.in_flight[at(copy)] == 0) return copy;
  }
  return -1;
}

bool Server::completes_update(const Slot& slot) const {
  return slot.added.size() + 1 == at(pushes_per_update_);
}

void Server::advance(int bundle, std::int64_t now_ns) {
  if (stopping_) {
    release(bundle, now_ns);
    return;
  }
  Slot& here = slot(bundle);
  for (int next = next_push(here); next >= 0; next = next_push(here)) {
    const int copy = completes_update(here) ? writable_copy(here) : 0;
    if (copy < 0) return;  // sent() comes back here.
    const int worker = here.arrived[at(next)];
    here.arrived.erase(here.arrived.begin() + next);
    take(bundle, worker, copy, now_ns);
  }
}

void Server::take(int bundle, int worker, int copy, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  here.completed_by = worker;
  if (!rules_.consistency.by_step()) {
    take_alone(bundle, worker, copy, now_ns);
  } else if (here.readers[at(worker)].pushed <= here.version) {
    drop(bundle, worker, DropReason::late, now_ns);
  } else {
    const bool completes = completes_update(here);
    add_to_sum(here, worker, now_ns);
    if (!completes) return;
    apply(here, copy, 1.0F);
  }
  answer(bundle, now_ns);
}

void Server::take_alone(int bundle, int worker, int copy, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  Reader& reader = here.readers[at(worker)];
  StaleGradient push{here.version - reader.version,
                     static_cast<double>(age_ns(reader, now_ns)) / kNsPerS,
                     here.memory.gradients[at(worker)],
                     here.memory.values[at(here.copy)],
                     reader.values.span(),
                     {}};
  if (rules_.staleness.needs_worth())
    push.worth = here.experience.observe(push.staleness, push.age_s, push.gradient);
  const Use use = rules_.staleness.use(push, here.sum.span());
  if (use.drop) {
    drop(bundle, worker, DropReason::stale, now_ns);
    return;
  }
  here.parts.push_back(use.gradient.data());
  count_staleness(here, worker, now_ns);
  apply(here, copy, use.rate);
}

void Server::add_to_sum(Slot& slot, int worker, std::int64_t now_ns) {
  if (slot.parts.size() == kParts) {
    sum(slot.parts, slot.sum.span());
    slot.parts.assign(1, slot.sum.data());
  }
  slot.parts.push_back(slot.memory.gradients[at(worker)].data());
  count_staleness(slot, worker, now_ns);
}

void Server::count_staleness(Slot& slot, int worker, std::int64_t now_ns) {
  Reader& reader = slot.readers[at(worker)];
  slot.added.push_back(worker);
  ++added_;
  reader.clock = reader.pushed;
  count(reader.staleness, slot.version - reader.version, age_ns(reader, now_ns));
}

void Server::apply(Slot& slot, int copy, float rate) {
  ++slot.version;
  apply_sum(rules_.optimizer, slot.parts,
            {slot.memory.values[at(slot.copy)],
             {},
             slot.memory.values[at(copy)],
             slot.state.span(),
             slot.version,
             rate});
  slot.copy = copy;
  applied_ += slot.added.size();
  waiting_ -= static_cast<int>(slot.added.size());
  ++updates_;
  slot.parts.clear();
  slot.added.clear();
}

void Server::drop(int bundle, int worker, DropReason reason, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  Reader& reader = here.readers[at(worker)];
  reader.dropped = true;
  reader.again = options_.recompute && reason == DropReason::stale;
  drops_.push_back(
      {worker, bundle, reader.pushed, here.version - reader.version, age_ns(reader, now_ns), reason});
  if (!reader.again) reader.clock = reader.pushed;
  ++dropped_;
  --waiting_;
}

std::int64_t Server::age_ns(const Reader& reader, std::int64_t now_ns) const {
  return reader.read_ns == 0 ? 0 : now_ns - reader.read_ns;
}

void Server::release(int bundle, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  for (std::vector<int>* const workers : {&here.added, &here.arrived}) {
    for (const int worker : *workers) drop(bundle, worker, DropReason::stopped, now_ns);
    workers->clear();
  }
  here.parts.clear();
  if (std::ranges::none_of(here.readers, &Reader::unanswered)) return;
  const int copy = writable_copy(here);
  if (copy < 0) return;  // sent() comes back here.
  if (copy != here.copy) std::ranges::copy(values(bundle), here.memory.values[at(copy)].begin());
  here.copy = copy;
  ++here.version;
  answer(bundle, now_ns);
}

void Server::answer(int bundle, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  const Reached reached{std::ranges::min_element(here.readers, {}, &Reader::clock)->clock, here.version};
  for (int i = 0; i < options_.workers; ++i) {
    const int worker = (options_.first_reply + i) % options_.workers;
    const Reader& reader = here.readers[at(worker)];
    // Of a push that has only arrived the clock does not know yet.
    const bool taken = std::ranges::find(here.arrived, worker) == here.arrived.end();
    if (!reader.unanswered || !taken) continue;
    if (stopping_ || rules_.consistency.admits(reader.clock, reached)) answer_one(bundle, worker, now_ns);
  }
}

void Server::answer_one(int bundle, int worker, std::int64_t now_ns) {
  Slot& here = slot(bundle);
  Reader& reader = here.readers[at(worker)];
  // Whoever hears that the training ends makes nothing again.
  if (stopping_ && std::exchange(reader.again, false)) reader.clock = reader.pushed;
  const bool last = reader.last && !reader.again;
  const std::uint32_t flags = (stopping_ ? kStop : 0U) | (reader.dropped ? kDropped : 0U);
  reader.unanswered = false;
  reader.version = here.version;
  reader.read_ns = now_ns;
  if (rules_.staleness.needs_values_read()) std::ranges::copy(values(bundle), reader.values.span().begin());
  ++here.in_flight[at(here.copy)];
  due_.push_back({worker, bundle, here.copy, flags, last, here.completed_by, here.version});
  if (last) ++closed_;
  if (!reader.again) count_read(worker);
  reader.dropped = reader.again = false;
}

void Server::count_read(int worker) {
  if (++reads_[at(worker)] % slots_.size() != 0) return;
  const auto version = [worker](const Slot& slot) { return slot.readers[at(worker)].version; };
  const auto [low, high] = std::ranges::minmax_element(slots_, {}, version);
  skew_[at(worker)] = std::max(skew_[at(worker)], version(*high) - version(*low));
}

std::int64_t Server::take_skew(int worker) { return std::exchange(skew_[at(worker)], 0); }

std::vector<StalenessCount>& Server::staleness(int worker, int bundle) {
  return slot(bundle).readers[at(worker)].staleness;
}

}  // namespace steelyard::ps
