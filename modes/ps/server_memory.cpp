#include "modes/ps/server_memory.hpp"

namespace steelyard::ps {
namespace {

/// A header and its elements, in whole cache lines.
std::size_t room_for(std::size_t elements) {
  return (kHeaderElements + elements + kHeaderElements - 1) / kHeaderElements * kHeaderElements;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

ServerMemory::ServerMemory(const Plan& plan, std::span<const BundleId> bundles, int workers, int copies,
                           const NodeMemory* node)
    : plan_(plan), bundles_(bundles), workers_(workers), copies_(copies), node_(node) {
  std::size_t next = 0;
  const auto reserve = [&next](std::size_t elements, bool here) {
    const std::size_t begin = next;
    if (!here) next += room_for(elements);
    return begin;
  };
  const bool in_arena = node != nullptr && node->in_place();
  for (const BundleId id : bundles) {
    const std::size_t elements = plan.bundles[id].elements;
    for (int worker = 0; worker < workers; ++worker) inboxes_.push_back(reserve(elements, shares(worker)));
    for (int copy = 0; copy < copies; ++copy) outboxes_.push_back(reserve(elements, in_arena));
  }
  memory_ = AlignedArray<float>(next);
}

Place ServerMemory::own(std::size_t begin, std::size_t elements) const {
  const auto whole = memory_.span().subspan(begin, kHeaderElements + elements);
  return {whole.first(kHeaderElements), whole.subspan(kHeaderElements)};
}

Place ServerMemory::in_arena(std::span<float> arena, int bundle) const {
  const Bundle& one = plan_.bundles[bundles_[at(bundle)]];
  return {arena.subspan(one.header_begin, kHeaderElements), arena.subspan(one.begin, one.elements)};
}

Place ServerMemory::inbox(int worker, int bundle) const {
  if (shares(worker)) return in_arena(node_->arenas(worker).gradients, bundle);
  return own(inboxes_[at(bundle) * at(workers_) + at(worker)], plan_.bundles[bundles_[at(bundle)]].elements);
}

Place ServerMemory::outbox(int copy, int bundle) const {
  if (node_ != nullptr && node_->in_place())
    return in_arena(node_->arenas(node_->roles().workers.front()).values, bundle);
  return own(outboxes_[at(bundle) * at(copies_) + at(copy)], plan_.bundles[bundles_[at(bundle)]].elements);
}

std::vector<BundleMemory> ServerMemory::views() const {
  std::vector<BundleMemory> views(bundles_.size());
  for (int bundle = 0; bundle < static_cast<int>(bundles_.size()); ++bundle) {
    for (int copy = 0; copy < copies_; ++copy)
      views[at(bundle)].values.push_back(outbox(copy, bundle).elements);
    for (int worker = 0; worker < workers_; ++worker)
      views[at(bundle)].gradients.push_back(inbox(worker, bundle).elements);
  }
  return views;
}

}  // namespace steelyard::ps
