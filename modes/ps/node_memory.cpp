#include "modes/ps/node_memory.hpp"

#include <algorithm>
#include <utility>

namespace steelyard::ps {
namespace {

constexpr std::size_t kDirections = 2;

/// A header for each bundle of the server; never none, so that a ring has a place to look at.
std::size_t lines_of(const Plan& plan, int server) {
  return std::max(plan.bundles_of_server[static_cast<std::size_t>(server)].size(), std::size_t{1});
}

std::size_t headers_in(const Plan& plan, const NodeRoles& here) {
  std::size_t lines = 0;
  for (const int server : here.servers) lines += lines_of(plan, server);
  return lines * here.workers.size() * kDirections;
}

std::size_t counters_in(const Plan& plan, const NodeRoles& here, const NodeTransport& transport) {
  return transport.sums ? plan.bundles.size() * (here.workers.size() + 1) : 0;
}

std::size_t room_for(const Plan& plan) { return whole_lines<float>(plan.layout.elements); }

}  // namespace

std::size_t NodeMemory::bytes_for(const Plan& plan, const NodeRoles& here, const NodeTransport& transport) {
  const std::size_t arenas = here.workers.size() + (transport.in_place ? 1 : here.workers.size());
  return headers_in(plan, here) * sizeof(Header) +
         mpi::SharedCounters::bytes_for(counters_in(plan, here, transport)) +
         arenas * room_for(plan) * sizeof(float);
}

NodeMemory::NodeMemory(const mpi::Communicator& node, const Plan& plan, NodeRoles here,
                       const NodeTransport& transport)
    : here_(std::move(here)),
      transport_(transport),
      elements_(plan.layout.elements),
      room_(room_for(plan)),
      counters_(counters_in(plan, here_, transport)),
      window_(node, bytes_for(plan, here_, transport)) {
  for (const int server : here_.servers) {
    before_.push_back(headers_);
    lines_.push_back(lines_of(plan, server));
    headers_ += lines_.back() * here_.workers.size() * kDirections;
  }
}

mpi::SharedCounters NodeMemory::counters() const {
  return mpi::SharedCounters(
      window_.bytes().subspan(headers_ * sizeof(Header), mpi::SharedCounters::bytes_for(counters_)));
}

void NodeMemory::set_ready(BundleId bundle, int worker, Clock clock) const {
  const auto place = static_cast<std::size_t>(place_of(here_.workers, worker));
  counters().store(counter(bundle, place), static_cast<std::uint64_t>(clock));
}

bool NodeMemory::all_ready(BundleId bundle, Clock clock) const {
  const mpi::SharedCounters words = counters();
  for (std::size_t place = 0; place < here_.workers.size(); ++place)
    if (words.load(counter(bundle, place)) < static_cast<std::uint64_t>(clock)) return false;
  return true;
}

void NodeMemory::set_version(BundleId bundle, std::int64_t version) const {
  counters().store(counter(bundle, here_.workers.size()), static_cast<std::uint64_t>(version));
}

std::int64_t NodeMemory::version(BundleId bundle) const {
  return static_cast<std::int64_t>(counters().load(counter(bundle, here_.workers.size())));
}

int NodeMemory::place_of(const std::vector<int>& list, int number) {
  const auto found = std::ranges::find(list, number);
  return found == list.end() ? Roles::kNone : static_cast<int>(found - list.begin());
}

Arenas NodeMemory::arenas(int worker) const {
  const auto place = static_cast<std::size_t>(place_of(here_.workers, worker));
  const std::size_t values = here_.workers.size() + (transport_.in_place ? 0 : place);
  auto* const floats = reinterpret_cast<float*>(window_.bytes().data() + headers_ * sizeof(Header) +
                                                mpi::SharedCounters::bytes_for(counters_));
  return {{floats + values * room_, elements_}, {floats + place * room_, elements_}};
}

Mailbox NodeMemory::mailbox(int server, int worker, std::size_t direction) const {
  const auto s = static_cast<std::size_t>(place_of(here_.servers, server));
  const auto w = static_cast<std::size_t>(place_of(here_.workers, worker));
  auto* const headers = reinterpret_cast<Header*>(window_.bytes().data());
  return Mailbox({headers + before_[s] + (w * kDirections + direction) * lines_[s], lines_[s]});
}

}  // namespace steelyard::ps
