#include "modes/ps/server_channel.hpp"

namespace steelyard::ps {

int header_tag(BundleId bundle) { return static_cast<int>(2 * bundle); }
int elements_tag(BundleId bundle) { return static_cast<int>(2 * bundle + 1); }

ServerChannel::ServerChannel(const Session& session, const Plan& plan, std::span<const BundleId> bundles,
                             Server& server, int copies)
    : session_(session),
      server_(server),
      bundles_(bundles.size()),
      copies_(static_cast<std::size_t>(copies)) {
  for (int worker = 0; worker < static_cast<int>(session.roles.workers.size()); ++worker)
    for (int number = 0; number < static_cast<int>(bundles.size()); ++number) {
      const BundleId id = bundles[static_cast<std::size_t>(number)];
      receives_.push_back(add_receive(plan.bundles[id], id, worker, number));
      for (int copy = 0; copy < copies; ++copy)
        sends_.push_back(add_send(plan.bundles[id], id, worker, number, copy));
    }
  events_.reserve(requests_.size());
  for (Transfer& transfer : receives_) start(transfer);
}

ServerChannel::Transfer ServerChannel::add_receive(const Bundle& bundle, BundleId id, int worker,
                                                   int number) {
  const Rank from = session_.roles.workers[static_cast<std::size_t>(worker)];
  const auto inbox = server_.inbox(worker, number);
  const auto head = bundle.piece ? inbox.first(kHeaderElements) : inbox;
  const Transfer transfer{
      requests_.add_receive(session_.pushes, std::as_writable_bytes(head), from, header_tag(id)),
      bundle.messages(), 0};
  if (bundle.piece)
    requests_.add_receive(session_.pushes, std::as_writable_bytes(inbox.subspan(kHeaderElements)), from,
                          elements_tag(id));
  owners_.resize(requests_.size(), {true, worker, number, 0});
  return transfer;
}

ServerChannel::Transfer ServerChannel::add_send(const Bundle& bundle, BundleId id, int worker, int number,
                                                int copy) {
  const Rank to = session_.roles.workers[static_cast<std::size_t>(worker)];
  const auto outbox = server_.outbox(copy, number);
  const auto head = bundle.piece ? outbox.first(kHeaderElements) : outbox;
  const Transfer transfer{requests_.add_send(session_.replies, std::as_bytes(head), to, header_tag(id)),
                          bundle.messages(), 0};
  if (bundle.piece)
    requests_.add_send(session_.replies, std::as_bytes(outbox.subspan(kHeaderElements)), to,
                       elements_tag(id));
  owners_.resize(requests_.size(), {false, worker, number, copy});
  return transfer;
}

void ServerChannel::start(Transfer& transfer) {
  transfer.missing = transfer.count;
  for (int i = 0; i < transfer.count; ++i) requests_.start(transfer.first + i);
}

void ServerChannel::start(const Reply& reply) {
  if (reply.clock < session_.config.steps) start(receive_of(reply.worker, reply.bundle));
  start(send_of(reply.worker, reply.bundle, reply.copy));
}

std::span<const ServerChannel::Event> ServerChannel::wait() {
  events_.clear();
  while (events_.empty())
    for (const int request : requests_.wait_some(session_.wait)) {
      const Owner& owner = owners_[static_cast<std::size_t>(request)];
      Transfer& transfer = owner.push ? receive_of(owner.worker, owner.bundle)
                                      : send_of(owner.worker, owner.bundle, owner.copy);
      if (--transfer.missing == 0)
        events_.push_back({owner.push, {owner.worker, owner.bundle, owner.copy, 0}});
    }
  return events_;
}

}  // namespace steelyard::ps
