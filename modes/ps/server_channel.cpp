#include "modes/ps/server_channel.hpp"

#include <algorithm>

namespace steelyard::ps {

ServerChannel::ServerChannel(const Session& session, const ServerSide& side, const ServerMemory& memory)
    : session_(session),
      side_(side),
      memory_(memory),
      wire_(find_wire(session.config.wire).value()),
      messages_(session, side, memory),
      neighbour_of_source_(side.sources.size(), Roles::kNone),
      number_of_bundle_(side.plan.bundles.size(), Roles::kNone) {
  const auto bundles = side.bundles();
  for (std::size_t i = 0; i < bundles.size(); ++i) number_of_bundle_[bundles[i]] = static_cast<int>(i);
  events_.reserve(messages_.most_events() + side.sources.size() * bundles.size());
  for (int source = 0; source < static_cast<int>(side.sources.size()); ++source) {
    if (!side.shares(source)) continue;
    const int worker = side.source(source).workers.front();
    neighbour_of_source_[static_cast<std::size_t>(source)] = static_cast<int>(neighbours_.size());
    neighbours_.push_back({source, side.node->pushes(side.server, worker),
                           side.node->replies(side.server, worker),
                           side.in_place() ? std::span<float>{} : side.node->arenas(worker).values});
  }
}

bool ServerChannel::start(const Reply& reply) {
  const int place = neighbour_of_source_[static_cast<std::size_t>(reply.worker)];
  if (place == Roles::kNone) {
    messages_.start(reply);
    return false;
  }
  Neighbour& neighbour = neighbours_[static_cast<std::size_t>(place)];
  const BundleId id = side_.bundles()[static_cast<std::size_t>(reply.bundle)];
  // The worker has finished with its old values, or it would not have pushed.
  if (!neighbour.values.empty())
    std::ranges::copy(
        memory_.outbox(reply.copy, reply.bundle).elements,
        neighbour.values.begin() + static_cast<std::ptrdiff_t>(side_.bundle(reply.bundle).begin));
  neighbour.replies.put(make_header(reply, id));
  return true;
}

void ServerChannel::poll(Neighbour& neighbour) {
  Header header;
  while (neighbour.pushes.take(header)) {
    require(header.bundle < number_of_bundle_.size() && number_of_bundle_[header.bundle] != Roles::kNone,
            "a push names a bundle of this server");
    events_.push_back({true, {neighbour.source, number_of_bundle_[header.bundle]}, header});
  }
}

void ServerChannel::poll() {
  events_.clear();
  for (Neighbour& neighbour : neighbours_) poll(neighbour);
  messages_.poll(events_);
}

std::span<const ServerEvent> ServerChannel::wait() {
  if (neighbours_.empty()) {
    events_.clear();
    while (events_.empty()) messages_.wait(events_, session_.wait);
  } else {
    mpi::wait_until(mpi::polling(session_.wait), [this] {
      poll();
      return !events_.empty();
    });
  }
  // Backward makes the last layers ready first; forward needs the first ones first.
  std::ranges::sort(events_, std::greater{}, [](const ServerEvent& e) { return e.reply.bundle; });
  return events_;
}

}  // namespace steelyard::ps
