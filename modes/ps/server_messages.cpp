#include "modes/ps/server_messages.hpp"

namespace steelyard::ps {

int header_tag(BundleId bundle) { return static_cast<int>(2 * bundle); }
int elements_tag(BundleId bundle) { return static_cast<int>(2 * bundle + 1); }

ServerMessages::ServerMessages(const Session& session, const Plan& plan, std::span<const BundleId> bundles,
                               const ServerMemory& memory, std::span<const int> workers, int copies)
    : session_(session),
      memory_(memory),
      bundles_(bundles),
      copies_(static_cast<std::size_t>(copies)),
      wire_(find_wire(session.config.wire).value()),
      packed_begin_(session.roles.workers.size() * bundles.size()),
      receives_(session.roles.workers.size() * bundles.size()),
      sends_(receives_.size() * copies_),
      versions_(bundles.size() * copies_) {
  std::size_t room = 0;
  for (const int worker : workers)
    for (int number = 0; number < static_cast<int>(bundles.size()); ++number) {
      packed_begin_[index(worker, number)] = room;
      const BundleId id = bundles[static_cast<std::size_t>(number)];
      if (wire_ != Wire::fp32) room += narrow_room_for(plan.bundles[id].elements);
    }
  packed_ = AlignedArray<std::uint16_t>(room);
  for (const int worker : workers)
    for (int number = 0; number < static_cast<int>(bundles.size()); ++number) {
      const BundleId id = bundles[static_cast<std::size_t>(number)];
      receive_of(worker, number) = add_receive(plan.bundles[id], id, worker, number);
      for (int copy = 0; copy < copies; ++copy)
        send_of(worker, number, copy) = add_send(plan.bundles[id], id, worker, number, copy);
    }
  for (Transfer& transfer : receives_)
    if (!transfer.empty()) start(transfer);
}

ServerMessages::Transfer ServerMessages::add_receive(const Bundle& bundle, BundleId id, int worker,
                                                     int number) {
  const Rank from = session_.roles.workers[static_cast<std::size_t>(worker)];
  const Place inbox = memory_.inbox(worker, number);
  if (wire_ != Wire::fp32) {
    owners_.push_back({true, worker, number, 0});
    return {requests_.add_receive(session_.pushes, std::as_writable_bytes(packed(worker, number)), from,
                                  header_tag(id)),
            1, 0};
  }
  const auto head = bundle.piece ? inbox.header : inbox.whole();
  const Transfer transfer{
      requests_.add_receive(session_.pushes, std::as_writable_bytes(head), from, header_tag(id)),
      bundle.messages(), 0};
  if (bundle.piece)
    requests_.add_receive(session_.pushes, std::as_writable_bytes(inbox.elements), from, elements_tag(id));
  owners_.resize(requests_.size(), {true, worker, number, 0});
  return transfer;
}

ServerMessages::Transfer ServerMessages::add_send(const Bundle& bundle, BundleId id, int worker, int number,
                                                  int copy) {
  const Rank to = session_.roles.workers[static_cast<std::size_t>(worker)];
  const Place outbox = memory_.outbox(copy, number);
  const auto head = bundle.piece ? outbox.header : outbox.whole();
  const Transfer transfer{requests_.add_send(session_.replies, std::as_bytes(head), to, header_tag(id)),
                          bundle.messages(), 0};
  if (bundle.piece)
    requests_.add_send(session_.replies, std::as_bytes(outbox.elements), to, elements_tag(id));
  owners_.resize(requests_.size(), {false, worker, number, copy});
  return transfer;
}

std::span<std::uint16_t> ServerMessages::packed(int worker, int bundle) {
  const std::size_t elements = memory_.inbox(worker, bundle).elements.size();
  return packed_.span().subspan(packed_begin_[index(worker, bundle)],
                                sizeof(Header) / sizeof(std::uint16_t) + elements);
}

Header ServerMessages::header_of(int worker, int bundle) {
  if (wire_ == Wire::fp32) return read_header(memory_.inbox(worker, bundle).header);
  Header header;
  std::memcpy(static_cast<void*>(&header), packed(worker, bundle).data(), sizeof header);
  return header;
}

void ServerMessages::unpack(int worker, int bundle) {
  if (wire_ == Wire::fp32) return;
  widen(wire_, narrow_elements(packed(worker, bundle)), memory_.inbox(worker, bundle).elements);
}

void ServerMessages::start(Transfer& transfer) {
  transfer.missing = transfer.count;
  for (int i = 0; i < transfer.count; ++i) requests_.start(transfer.first + i);
}

void ServerMessages::start(const Reply& reply) {
  const auto place = static_cast<std::size_t>(reply.bundle);
  std::int64_t& version = versions_[place * copies_ + static_cast<std::size_t>(reply.copy)];
  // Replies of one version share the header: nothing may be written while one of them is being sent.
  if (version != reply.version) {
    version = reply.version;
    Header header;
    header.kind = Kind::reply;
    header.bundle = bundles_[place];
    header.version = version;
    write_header(header, memory_.outbox(reply.copy, reply.bundle).header);
  }
  if (reply.clock < session_.config.steps) start(receive_of(reply.worker, reply.bundle));
  start(send_of(reply.worker, reply.bundle, reply.copy));
}

void ServerMessages::complete(std::span<const int> requests, std::vector<ServerEvent>& events) {
  for (const int request : requests) {
    const Owner& owner = owners_[static_cast<std::size_t>(request)];
    Transfer& transfer =
        owner.push ? receive_of(owner.worker, owner.bundle) : send_of(owner.worker, owner.bundle, owner.copy);
    if (--transfer.missing > 0) continue;
    ServerEvent event{owner.push, {owner.worker, owner.bundle, owner.copy, 0, 0}, {}};
    if (owner.push) event.header = header_of(owner.worker, owner.bundle);
    events.push_back(event);
  }
}

void ServerMessages::poll(std::vector<ServerEvent>& events) {
  if (!empty()) complete(requests_.test_some(), events);
}

void ServerMessages::wait(std::vector<ServerEvent>& events, mpi::Wait wait) {
  complete(requests_.wait_some(wait), events);
}

}  // namespace steelyard::ps
