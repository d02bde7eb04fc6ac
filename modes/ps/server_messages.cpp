#include "modes/ps/server_messages.hpp"

namespace steelyard::ps {

int header_tag(BundleId bundle) { return static_cast<int>(2 * bundle); }
int elements_tag(BundleId bundle) { return static_cast<int>(2 * bundle + 1); }

Header make_header(const Reply& reply, BundleId bundle) {
  Header header;
  header.kind = Kind::reply;
  header.bundle = bundle;
  header.worker = reply.completed_by;
  header.flags = reply.flags;
  header.version = reply.version;
  return header;
}

ServerMessages::ServerMessages(const Session& session, const ServerSide& side, const ServerMemory& memory)
    : session_(session),
      side_(side),
      memory_(memory),
      copies_(static_cast<std::size_t>(side.copies)),
      wire_(find_wire(session.config.wire).value()),
      packed_begin_(side.sources.size() * side.bundles().size()),
      receives_(packed_begin_.size()),
      sends_(receives_.size() * copies_),
      versions_(side.bundles().size() * copies_),
      headers_(receives_.size() * kHeaderElements) {
  if (wire_ != Wire::fp32) reserve_packed();
  for (int source = 0; source < static_cast<int>(side.sources.size()); ++source)
    for (int bundle = 0; !side.shares(source) && bundle < static_cast<int>(side.bundles().size()); ++bundle) {
      receive_of(source, bundle) = add_receive(source, bundle);
      for (int copy = 0; copy < side.copies; ++copy)
        send_of(source, bundle, copy) = add_send(source, bundle, copy);
    }
  for (Transfer& transfer : receives_)
    if (!transfer.empty()) start(transfer);
}

void ServerMessages::reserve_packed() {
  std::size_t room = 0;
  for (int source = 0; source < static_cast<int>(side_.sources.size()); ++source)
    for (int bundle = 0; !side_.shares(source) && bundle < static_cast<int>(side_.bundles().size());
         ++bundle) {
      packed_begin_[index(source, bundle)] = room;
      room += narrow_room_for(side_.bundle(bundle).elements);
    }
  packed_ = AlignedArray<std::uint16_t>(room);
}

Rank ServerMessages::rank_of(int source, int bundle) const {
  return session_.roles.workers[static_cast<std::size_t>(side_.source(source).agent(id_of(bundle)))];
}

ServerMessages::Transfer ServerMessages::add_receive(int source, int bundle) {
  const Rank from = rank_of(source, bundle);
  const BundleId id = id_of(bundle);
  const Place inbox = memory_.inbox(source, bundle);
  if (wire_ != Wire::fp32) {
    owners_.push_back({true, source, bundle, 0});
    return {requests_.add_receive(session_.pushes, std::as_writable_bytes(packed(source, bundle)), from,
                                  header_tag(id)),
            1, 0};
  }
  const bool piece = side_.bundle(bundle).piece;
  const auto head = piece ? inbox.header : inbox.whole();
  const Transfer transfer{
      requests_.add_receive(session_.pushes, std::as_writable_bytes(head), from, header_tag(id)),
      side_.bundle(bundle).messages(), 0};
  if (piece)
    requests_.add_receive(session_.pushes, std::as_writable_bytes(inbox.elements), from, elements_tag(id));
  owners_.resize(requests_.size(), {true, source, bundle, 0});
  return transfer;
}

ServerMessages::Transfer ServerMessages::add_send(int source, int bundle, int copy) {
  const Rank to = rank_of(source, bundle);
  const BundleId id = id_of(bundle);
  const Place outbox = memory_.outbox(copy, bundle);
  const bool piece = side_.bundle(bundle).piece;
  const auto head = piece ? reply_header(source, bundle) : outbox.whole();
  const Transfer transfer{requests_.add_send(session_.replies, std::as_bytes(head), to, header_tag(id)),
                          side_.bundle(bundle).messages(), 0};
  if (piece) requests_.add_send(session_.replies, std::as_bytes(outbox.elements), to, elements_tag(id));
  owners_.resize(requests_.size(), {false, source, bundle, copy});
  return transfer;
}

std::span<std::uint16_t> ServerMessages::packed(int source, int bundle) {
  const std::size_t elements = memory_.inbox(source, bundle).elements.size();
  return packed_.span().subspan(packed_begin_[index(source, bundle)],
                                sizeof(Header) / sizeof(std::uint16_t) + elements);
}

Header ServerMessages::header_of(int source, int bundle) {
  if (wire_ == Wire::fp32) return read_header(memory_.inbox(source, bundle).header);
  Header header;
  std::memcpy(static_cast<void*>(&header), packed(source, bundle).data(), sizeof header);
  return header;
}

void ServerMessages::unpack(int source, int bundle) {
  if (wire_ == Wire::fp32) return;
  widen(wire_, narrow_elements(packed(source, bundle)), memory_.inbox(source, bundle).elements);
}

void ServerMessages::start(Transfer& transfer) {
  transfer.missing = transfer.count;
  for (int i = 0; i < transfer.count; ++i) requests_.start(transfer.first + i);
}

void ServerMessages::start(const Reply& reply) {
  const auto place = static_cast<std::size_t>(reply.bundle);
  std::int64_t& version = versions_[place * copies_ + static_cast<std::size_t>(reply.copy)];
  if (side_.bundle(reply.bundle).piece) {
    write_header(make_header(reply, id_of(reply.bundle)), reply_header(reply.worker, reply.bundle));
  } else if (version != reply.version) {
    // Replies of one version share the header: nothing may be written while one of them is being sent.
    version = reply.version;
    write_header(make_header(reply, id_of(reply.bundle)), memory_.outbox(reply.copy, reply.bundle).header);
  }
  if (!reply.last) start(receive_of(reply.worker, reply.bundle));
  start(send_of(reply.worker, reply.bundle, reply.copy));
}

void ServerMessages::complete(std::span<const int> requests, std::vector<ServerEvent>& events) {
  for (const int request : requests) {
    const Owner& owner = owners_[static_cast<std::size_t>(request)];
    Transfer& transfer =
        owner.push ? receive_of(owner.source, owner.bundle) : send_of(owner.source, owner.bundle, owner.copy);
    if (--transfer.missing > 0) continue;
    ServerEvent event{owner.push, {owner.source, owner.bundle, owner.copy}, {}};
    if (owner.push) event.header = header_of(owner.source, owner.bundle);
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
