#include "modes/ps/server.hpp"

#include <algorithm>

#include "src/base/check.hpp"
#include "src/optim/fused.hpp"

namespace steelyard::ps {
namespace {

constexpr std::size_t kStalenessesReserved = 16;

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

Server::Server(const ServerOptions& options, const Optimizer& optimizer, const Consistency& consistency,
               std::span<const BundleId> ids, std::vector<BundleMemory> memory)
    : options_(options),
      optimizer_(optimizer),
      consistency_(consistency),
      pushes_per_update_(consistency.pushes_per_update(options.workers)),
      slots_(ids.size()) {
  const std::size_t workers = at(options.workers);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.id = ids[i];
    slot.memory = std::move(memory[i]);
    const std::size_t elements = slot.memory.values.front().size();
    slot.state = AlignedArray<float>(elements * optimizer.state_per_element());
    if (at(pushes_per_update_) > kParts) slot.sum = AlignedArray<float>(elements);
    slot.clocks.resize(workers);
    slot.read.resize(workers);
    slot.read_ns.resize(workers);
    slot.unanswered.resize(workers);
    slot.arrived.reserve(workers);
    slot.parts.reserve(kParts);
    slot.in_flight.resize(at(options.copies));
    slot.staleness.resize(workers);
    for (auto& counts : slot.staleness) counts.reserve(kStalenessesReserved);
  }
  due_.reserve(workers * slots_.size());
}

std::span<const float> Server::values(int bundle) const {
  const Slot& slot = slots_[at(bundle)];
  return slot.memory.values[at(slot.copy)];
}

void Server::receive(int worker, int bundle, const Header& header, std::int64_t now_ns) {
  Slot& slot = slots_[at(bundle)];
  require(header.kind == Kind::push && header.bundle == slot.id && header.worker == worker,
          "a push arrives in the inbox of its worker and bundle");
  require(header.clock == slot.clocks[at(worker)] + 1 && !slot.unanswered[at(worker)],
          "a worker pushes each bundle exactly once per step, in order");
  require(header.version == slot.read[at(worker)], "a gradient belongs to the values that were sent last");
  slot.unanswered[at(worker)] = true;
  slot.arrived.push_back(worker);
  ++pushes_;
  ++waiting_;
  advance(bundle, now_ns);
}

void Server::sent(const Reply& reply, std::int64_t now_ns) {
  Slot& slot = slots_[at(reply.bundle)];
  --slot.in_flight[at(reply.copy)];
  if (!slot.arrived.empty()) advance(reply.bundle, now_ns);
}

int Server::next_push(const Slot& slot) const {
  if (slot.arrived.empty()) return -1;
  if (!options_.in_worker_order) return 0;
  // The pushes in the sum are those of the workers 0 .. summed - 1, so the next is that of worker `summed`.
  const auto found = std::ranges::find(slot.arrived, slot.summed);
  return found == slot.arrived.end() ? -1 : static_cast<int>(found - slot.arrived.begin());
}

int Server::writable_copy(const Slot& slot) const {
  for (int i = 0; i < options_.copies; ++i) {
    const int copy = (slot.copy + i) % options_.copies;
    if (slot.in_flight[at(copy)] == 0) return copy;
  }
  return -1;
}

void Server::advance(int bundle, std::int64_t now_ns) {
  Slot& slot = slots_[at(bundle)];
  for (int next = next_push(slot); next >= 0; next = next_push(slot)) {
    const bool completes = slot.summed + 1 == pushes_per_update_;
    const int copy = completes ? writable_copy(slot) : 0;
    if (copy < 0) return;  // sent() comes back here.
    const int worker = slot.arrived[at(next)];
    slot.arrived.erase(slot.arrived.begin() + next);
    add_to_sum(slot, worker, now_ns);
    if (!completes) continue;
    apply(slot, copy);
    answer(bundle, now_ns);
  }
}

void Server::add_to_sum(Slot& slot, int worker, std::int64_t now_ns) {
  if (slot.parts.size() == kParts) {
    sum(slot.parts, slot.sum.span());
    slot.parts.assign(1, slot.sum.data());
  }
  slot.parts.push_back(slot.memory.gradients[at(worker)].data());
  ++slot.summed;
  ++slot.clocks[at(worker)];
  count(slot.staleness[at(worker)], slot.version - slot.read[at(worker)],
        slot.read_ns[at(worker)] == 0 ? 0 : now_ns - slot.read_ns[at(worker)]);
}

void Server::apply(Slot& slot, int copy) {
  ++slot.version;
  apply_sum(
      optimizer_, slot.parts,
      {slot.memory.values[at(slot.copy)], {}, slot.memory.values[at(copy)], slot.state.span(), slot.version});
  slot.copy = copy;
  applied_ += static_cast<std::uint64_t>(slot.summed);
  waiting_ -= slot.summed;
  ++updates_;
  slot.parts.clear();
  slot.summed = 0;
}

void Server::answer(int bundle, std::int64_t now_ns) {
  Slot& slot = slots_[at(bundle)];
  const Clock slowest = *std::ranges::min_element(slot.clocks);
  for (int i = 0; i < options_.workers; ++i) {
    const int worker = (options_.first_reply + i) % options_.workers;
    const bool in_sum = std::ranges::find(slot.arrived, worker) == slot.arrived.end();
    if (!slot.unanswered[at(worker)] || !in_sum || !consistency_.admits(slot.clocks[at(worker)], slowest))
      continue;
    slot.unanswered[at(worker)] = false;
    slot.read[at(worker)] = slot.version;
    slot.read_ns[at(worker)] = now_ns;
    ++slot.in_flight[at(slot.copy)];
    due_.push_back({worker, bundle, slot.copy, slot.clocks[at(worker)], slot.version});
  }
}

std::int64_t Server::skew(int worker) const {
  std::int64_t low = slots_.front().read[at(worker)];
  std::int64_t high = low;
  for (const Slot& slot : slots_) {
    low = std::min(low, slot.read[at(worker)]);
    high = std::max(high, slot.read[at(worker)]);
  }
  return high - low;
}

std::vector<StalenessCount>& Server::staleness(int worker, int bundle) {
  return slots_[at(bundle)].staleness[at(worker)];
}

}  // namespace steelyard::ps
