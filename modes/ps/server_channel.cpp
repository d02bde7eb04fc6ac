#include "modes/ps/server_channel.hpp"

#include <algorithm>

namespace steelyard::ps {
namespace {

std::vector<int> strangers(const Session& session, const NodeMemory* node) {
  std::vector<int> workers;
  for (int worker = 0; worker < static_cast<int>(session.roles.workers.size()); ++worker)
    if (node == nullptr || !node->has_worker(worker)) workers.push_back(worker);
  return workers;
}

}  // namespace

ServerChannel::ServerChannel(const Session& session, const Plan& plan, int server, const ServerMemory& memory,
                             int copies, const NodeMemory* node)
    : session_(session),
      plan_(plan),
      bundles_(plan.bundles_of_server[static_cast<std::size_t>(server)]),
      memory_(memory),
      wire_(find_wire(session.config.wire).value()),
      messages_(session, plan, bundles_, memory, strangers(session, node), copies),
      neighbour_of_worker_(session.roles.workers.size(), Roles::kNone),
      number_of_bundle_(plan.bundles.size(), Roles::kNone) {
  for (std::size_t i = 0; i < bundles_.size(); ++i) number_of_bundle_[bundles_[i]] = static_cast<int>(i);
  events_.reserve(messages_.most_events() + session.roles.workers.size() * bundles_.size());
  if (node == nullptr) return;
  for (const int worker : node->roles().workers) {
    neighbour_of_worker_[static_cast<std::size_t>(worker)] = static_cast<int>(neighbours_.size());
    neighbours_.push_back({worker, node->pushes(server, worker), node->replies(server, worker),
                           node->in_place() ? std::span<float>{} : node->arenas(worker).values});
  }
}

bool ServerChannel::start(const Reply& reply) {
  const int place = neighbour_of_worker_[static_cast<std::size_t>(reply.worker)];
  if (place == Roles::kNone) {
    messages_.start(reply);
    return false;
  }
  Neighbour& neighbour = neighbours_[static_cast<std::size_t>(place)];
  const BundleId id = bundles_[static_cast<std::size_t>(reply.bundle)];
  // The worker has finished with its old values, or it would not have pushed.
  if (!neighbour.values.empty())
    std::ranges::copy(memory_.outbox(reply.copy, reply.bundle).elements,
                      neighbour.values.begin() + static_cast<std::ptrdiff_t>(plan_.bundles[id].begin));
  Header header;
  header.kind = Kind::reply;
  header.bundle = id;
  header.version = reply.version;
  neighbour.replies.put(header);
  return true;
}

void ServerChannel::poll(Neighbour& neighbour) {
  Header header;
  while (neighbour.pushes.take(header)) {
    require(header.bundle < number_of_bundle_.size() && number_of_bundle_[header.bundle] != Roles::kNone,
            "a push names a bundle of this server");
    events_.push_back({true, {neighbour.worker, number_of_bundle_[header.bundle], 0, 0, 0}, header});
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
