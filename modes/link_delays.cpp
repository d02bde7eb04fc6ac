#include "modes/link_delays.hpp"

#include <algorithm>
#include <limits>

#include "src/base/aligned.hpp"
#include "src/base/clock.hpp"
#include "src/mpi/requests.hpp"

namespace steelyard {
namespace {

using Item = Injection::Item;

constexpr std::size_t kProbeBytes = std::size_t{1} << 20U;
constexpr int kProbes = 5;
constexpr int kTag = 0;

/// Two ranks send a message to and fro. @return nanoseconds for a byte one way, the least of several, of
/// which the first touches the memory and counts not.
double time_a_byte(const mpi::Communicator& world, Rank peer, bool begins) {
  AlignedArray<float> message(kProbeBytes / sizeof(float));
  mpi::Requests requests;
  const int send = requests.add_send(world, std::as_bytes(message.span()), peer, kTag);
  const int receive = requests.add_receive(world, std::as_writable_bytes(message.span()), peer, kTag);
  const auto complete = [&](int request) {
    requests.start(request);
    while (requests.wait_some(mpi::Wait::yield).empty()) {
    }
  };
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  for (int probe = 0; probe <= kProbes; ++probe) {
    const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
    complete(begins ? send : receive);
    complete(begins ? receive : send);
    if (probe > 0) least_ns = std::min(least_ns, clock_ns(CLOCK_MONOTONIC) - begin_ns);
  }
  return static_cast<double>(least_ns) / (2.0 * kProbeBytes);
}

/// Place of a world rank in the communicators that its messages to this trial's peers go through.
Rank place_of(const Session& session, Rank rank) {
  return session.config.mode == "ps" ? rank : Roles::index_in(session.roles.workers, rank);
}

/// Every slow link once, in the order given.
std::vector<Item> slow_links(const Injection& injection) {
  std::vector<Item> links;
  for (const Item& item : injection.items()) {
    const bool known = std::ranges::any_of(links, [&item](const Item& other) {
      return other.first == item.first && other.second == item.second;
    });
    if (item.kind == Injection::Kind::bandwidth && !known) links.push_back(item);
  }
  return links;
}

}  // namespace

LinkDelays::LinkDelays(const Session& session) {
  const std::vector<Item> slow = slow_links(session.config.injection);
  if (slow.empty()) return;
  const Rank self = session.world.rank();
  std::vector<mpi::SlowLinks::Link> mine;
  for (const Item& item : slow) {
    const double share = session.config.injection.bandwidth(item.first, item.second);
    if ((item.first != self && item.second != self) || share >= 1.0) continue;
    const Rank peer = item.first == self ? item.second : item.first;
    mine.push_back({place_of(session, peer), time_a_byte(session.world, peer, self == item.first), share, 0});
  }
  mpi::barrier(session.world,
               mpi::Wait::sleep);  // Who has no slow link leaves the cores to those that measure.
  links_.emplace(std::move(mine));
  if (session.config.mode == "ps") {
    links_->attach(session.pushes);
    links_->attach(session.replies);
  } else if (!session.workers.empty()) {
    links_->attach(session.workers);
  }
}

}  // namespace steelyard
