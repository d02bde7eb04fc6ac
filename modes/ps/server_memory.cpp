#include "modes/ps/server_memory.hpp"

namespace steelyard::ps {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

bool ServerSide::shares(int source) const {
  const std::vector<int>& workers = this->source(source).workers;
  return node != nullptr && workers.size() == 1 && node->has_worker(workers[0]);
}

ServerMemory::ServerMemory(const ServerSide& side) : side_(side) {
  std::size_t next = 0;
  const auto reserve = [&next](std::size_t elements, bool here) {
    const std::size_t begin = next;
    if (!here) next += whole_lines<float>(kHeaderElements + elements);
    return begin;
  };
  for (const BundleId id : side.bundles()) {
    const std::size_t elements = side.plan.bundles[id].elements;
    for (int source = 0; source < static_cast<int>(side.sources.size()); ++source)
      inboxes_.push_back(reserve(elements, side.shares(source)));
    for (int copy = 0; copy < side.copies; ++copy) outboxes_.push_back(reserve(elements, side.in_place()));
  }
  memory_ = AlignedArray<float>(next);
}

Place ServerMemory::own(std::size_t begin, std::size_t elements) const {
  const auto whole = memory_.span().subspan(begin, kHeaderElements + elements);
  return {whole.first(kHeaderElements), whole.subspan(kHeaderElements)};
}

Place ServerMemory::in_arena(std::span<float> arena, int bundle) const {
  const Bundle& one = side_.bundle(bundle);
  return {arena.subspan(one.header_begin, kHeaderElements), arena.subspan(one.begin, one.elements)};
}

Place ServerMemory::inbox(int source, int bundle) const {
  if (side_.shares(source))
    return in_arena(side_.node->arenas(side_.source(source).workers.front()).gradients, bundle);
  return own(inboxes_[at(bundle) * side_.sources.size() + at(source)], side_.bundle(bundle).elements);
}

Place ServerMemory::outbox(int copy, int bundle) const {
  if (side_.in_place())
    return in_arena(side_.node->arenas(side_.node->roles().workers.front()).values, bundle);
  return own(outboxes_[at(bundle) * at(side_.copies) + at(copy)], side_.bundle(bundle).elements);
}

std::vector<BundleMemory> ServerMemory::views() const {
  std::vector<BundleMemory> views(side_.bundles().size());
  for (int bundle = 0; bundle < static_cast<int>(views.size()); ++bundle) {
    for (int copy = 0; copy < side_.copies; ++copy)
      views[at(bundle)].values.push_back(outbox(copy, bundle).elements);
    for (int source = 0; source < static_cast<int>(side_.sources.size()); ++source)
      views[at(bundle)].gradients.push_back(inbox(source, bundle).elements);
  }
  return views;
}

}  // namespace steelyard::ps
