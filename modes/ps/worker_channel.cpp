#include "modes/ps/worker_channel.hpp"

#include "modes/ps/server_messages.hpp"

namespace steelyard::ps {

WorkerChannel::WorkerChannel(const Session& session, const Plan& plan, Parameters& parameters, int worker,
                             const NodeMemory* node)
    : session_(session),
      plan_(plan),
      parameters_(parameters),
      wire_(find_wire(session.config.wire).value()),
      exchanges_(plan.bundles.size()),
      neighbour_of_server_(session.roles.servers.size(), Roles::kNone) {
  arrivals_.reserve(plan.bundles.size());
  if (node != nullptr)
    for (const int server : node->roles().servers) {
      neighbour_of_server_[static_cast<std::size_t>(server)] = static_cast<int>(neighbours_.size());
      neighbours_.push_back({node->pushes(server, worker), node->replies(server, worker)});
    }
  const auto far = [&](BundleId id) {
    return neighbour_of_server_[static_cast<std::size_t>(plan_.bundles[id].server)] == Roles::kNone;
  };
  std::size_t room = 0;
  for (BundleId id = 0; id < plan_.bundles.size(); ++id) {
    exchanges_[id].packed = room;
    if (far(id) && wire_ != Wire::fp32) room += narrow_room_for(plan_.bundles[id].elements);
  }
  packed_ = AlignedArray<std::uint16_t>(room);
  for (BundleId id = 0; id < plan_.bundles.size(); ++id)
    if (far(id)) add_requests(id);
}

void WorkerChannel::add_requests(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  const Rank server = session_.roles.servers[static_cast<std::size_t>(bundle.server)];
  const std::size_t head = bundle.piece ? kHeaderElements : kHeaderElements + bundle.elements;
  const auto values = parameters_.value_arena();
  Exchange& exchange = exchanges_[id];
  exchange.first = static_cast<int>(requests_.size());
  requests_.add_receive(session_.replies, std::as_writable_bytes(values.subspan(bundle.header_begin, head)),
                        server, header_tag(id));
  if (bundle.piece)
    requests_.add_receive(session_.replies,
                          std::as_writable_bytes(values.subspan(bundle.begin, bundle.elements)), server,
                          elements_tag(id));
  add_push(id, server);
  exchange.requests = static_cast<int>(requests_.size()) - exchange.first;
  bundle_of_request_.resize(requests_.size(), id);
}

void WorkerChannel::add_push(BundleId id, Rank server) {
  const Bundle& bundle = plan_.bundles[id];
  const auto gradients = parameters_.gradient_arena();
  if (wire_ != Wire::fp32) {
    requests_.add_send(session_.pushes, std::as_bytes(packed(id)), server, header_tag(id));
    return;
  }
  const std::size_t head = bundle.piece ? kHeaderElements : kHeaderElements + bundle.elements;
  requests_.add_send(session_.pushes, std::as_bytes(gradients.subspan(bundle.header_begin, head)), server,
                     header_tag(id));
  if (bundle.piece)
    requests_.add_send(session_.pushes, std::as_bytes(gradients.subspan(bundle.begin, bundle.elements)),
                       server, elements_tag(id));
}

std::span<std::uint16_t> WorkerChannel::packed(BundleId id) {
  return packed_.span().subspan(exchanges_[id].packed,
                                sizeof(Header) / sizeof(std::uint16_t) + plan_.bundles[id].elements);
}

void WorkerChannel::push(BundleId id, const Header& header) {
  const Bundle& bundle = plan_.bundles[id];
  const int place = neighbour_of_server_[static_cast<std::size_t>(bundle.server)];
  if (place != Roles::kNone) {
    neighbours_[static_cast<std::size_t>(place)].pushes.put(header);
    return;
  }
  const auto gradients = parameters_.gradient_arena();
  if (wire_ == Wire::fp32) {
    write_header(header, gradients.subspan(bundle.header_begin));
  } else {
    std::memcpy(packed(id).data(), &header, sizeof header);
    narrow(wire_, gradients.subspan(bundle.begin, bundle.elements), narrow_elements(packed(id)));
  }
  Exchange& exchange = exchanges_[id];
  exchange.missing = exchange.requests;
  for (int i = 0; i < exchange.requests; ++i) requests_.start(exchange.first + i);
}

std::span<const WorkerChannel::Arrival> WorkerChannel::poll() {
  arrivals_.clear();
  Header header;
  for (Neighbour& neighbour : neighbours_)
    while (neighbour.replies.take(header)) accept(header, header.bundle);
  if (requests_.size() > 0) complete(requests_.test_some());
  return arrivals_;
}

std::span<const WorkerChannel::Arrival> WorkerChannel::wait() {
  arrivals_.clear();
  if (neighbours_.empty())
    while (arrivals_.empty()) complete(requests_.wait_some(session_.wait));
  else
    mpi::wait_until(mpi::polling(session_.wait), [this] { return !poll().empty(); });
  return arrivals_;
}

void WorkerChannel::complete(std::span<const int> requests) {
  for (const int request : requests) {
    const BundleId id = bundle_of_request_[static_cast<std::size_t>(request)];
    // A finished send matters too: backward is about to write where it was sent from.
    if (--exchanges_[id].missing == 0)
      accept(read_header(parameters_.value_arena().subspan(plan_.bundles[id].header_begin)), id);
  }
}

void WorkerChannel::accept(const Header& header, BundleId bundle) {
  require(header.kind == Kind::reply && header.bundle == bundle && bundle < plan_.bundles.size(),
          "a reply arrives in the place of its bundle");
  arrivals_.push_back({bundle, header.version});
}

}  // namespace steelyard::ps
