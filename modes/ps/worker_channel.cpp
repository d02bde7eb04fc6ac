#include "modes/ps/worker_channel.hpp"

#include "modes/ps/server_messages.hpp"
#include "src/optim/fused.hpp"

namespace steelyard::ps {

WorkerChannel::WorkerChannel(const Session& session, const WorkerSide& side, Parameters& parameters)
    : session_(session),
      side_(side),
      parameters_(parameters),
      wire_(find_wire(session.config.wire).value()),
      exchanges_(side.plan.bundles.size()),
      neighbour_of_server_(session.roles.servers.size(), Roles::kNone) {
  arrivals_.reserve(exchanges_.size());
  together_.reserve(exchanges_.size());
  const NodeMemory* const node = side.node;
  if (node != nullptr)
    for (const int server : node->roles().servers) {
      neighbour_of_server_[static_cast<std::size_t>(server)] = static_cast<int>(neighbours_.size());
      neighbours_.push_back({node->pushes(server, side.worker), node->replies(server, side.worker)});
    }
  if (node != nullptr && node->sums())
    for (const int worker : node->roles().workers) gradients_.push_back(node->arenas(worker).gradients);
  else
    gradients_.push_back(parameters.gradient_arena());
  parts_.resize(gradients_.size());
  std::size_t room = 0;
  for (BundleId id = 0; id < exchanges_.size(); ++id) {
    exchanges_[id].route = route_of(id);
    exchanges_[id].packed = room;
    if (sends(id) && wire_ != Wire::fp32) room += narrow_room_for(bundle(id).elements);
  }
  packed_ = AlignedArray<std::uint16_t>(room);
  for (BundleId id = 0; id < exchanges_.size(); ++id)
    if (sends(id)) add_requests(id);
}

WorkerChannel::Route WorkerChannel::route_of(BundleId id) const {
  if (neighbour_of_server_[static_cast<std::size_t>(bundle(id).server)] != Roles::kNone) return Route::memory;
  if (side_.node == nullptr || !side_.node->sums()) return Route::message;
  return side_.node->agent(id) == side_.worker ? Route::speaks : Route::follows;
}

void WorkerChannel::add_requests(BundleId id) {
  const Bundle& one = bundle(id);
  const Rank server = session_.roles.servers[static_cast<std::size_t>(one.server)];
  const std::size_t head = one.piece ? kHeaderElements : kHeaderElements + one.elements;
  const auto values = parameters_.value_arena();
  Exchange& exchange = exchanges_[id];
  exchange.first = static_cast<int>(requests_.size());
  requests_.add_receive(session_.replies, std::as_writable_bytes(values.subspan(one.header_begin, head)),
                        server, header_tag(id));
  if (one.piece)
    requests_.add_receive(session_.replies, std::as_writable_bytes(values.subspan(one.begin, one.elements)),
                          server, elements_tag(id));
  add_push(id, server);
  exchange.requests = static_cast<int>(requests_.size()) - exchange.first;
  bundle_of_request_.resize(requests_.size(), id);
}

void WorkerChannel::add_push(BundleId id, Rank server) {
  const Bundle& one = bundle(id);
  if (wire_ != Wire::fp32) {
    requests_.add_send(session_.pushes, std::as_bytes(packed(id)), server, header_tag(id));
    return;
  }
  const std::size_t head = one.piece ? kHeaderElements : kHeaderElements + one.elements;
  requests_.add_send(session_.pushes, std::as_bytes(outgoing().subspan(one.header_begin, head)), server,
                     header_tag(id));
  if (one.piece)
    requests_.add_send(session_.pushes, std::as_bytes(outgoing().subspan(one.begin, one.elements)), server,
                       elements_tag(id));
}

Moved WorkerChannel::pushed(BundleId id) const {
  if (exchanges_[id].route == Route::memory) return bundle(id).shared();
  return sends(id) ? bundle(id).pushed(wire_) : Moved{};
}

Moved WorkerChannel::pulled(BundleId id) const {
  if (exchanges_[id].route == Route::memory) return bundle(id).shared();
  return sends(id) ? bundle(id).pulled() : Moved{};
}

std::span<std::uint16_t> WorkerChannel::packed(BundleId id) {
  return packed_.span().subspan(exchanges_[id].packed,
                                sizeof(Header) / sizeof(std::uint16_t) + bundle(id).elements);
}

void WorkerChannel::push(BundleId id, const Header& header) {
  switch (exchanges_[id].route) {
    case Route::memory:
      neighbours_[static_cast<std::size_t>(neighbour_of_server_[static_cast<std::size_t>(bundle(id).server)])]
          .pushes.put(header);
      return;
    case Route::message:
      send(id, header);
      return;
    case Route::speaks:
    case Route::follows:
      side_.node->set_ready(id, side_.worker, header.clock);
      together_.push_back(header);
  }
}

void WorkerChannel::write_push(BundleId id, const Header& header) {
  const Bundle& one = bundle(id);
  if (wire_ == Wire::fp32) {
    write_header(header, outgoing().subspan(one.header_begin));
  } else {
    std::memcpy(packed(id).data(), &header, sizeof header);
    narrow(wire_, outgoing().subspan(one.begin, one.elements), narrow_elements(packed(id)));
  }
}

void WorkerChannel::send(BundleId id, const Header& header) {
  write_push(id, header);
  Exchange& exchange = exchanges_[id];
  exchange.missing = exchange.requests;
  for (int i = 0; i < exchange.requests; ++i) requests_.start(exchange.first + i);
}

void WorkerChannel::sum(BundleId id) {
  const Bundle& one = bundle(id);
  for (std::size_t i = 0; i < parts_.size(); ++i) parts_[i] = gradients_[i].data() + one.begin;
  steelyard::sum(parts_, outgoing().subspan(one.begin, one.elements));
}

void WorkerChannel::say_nothing(BundleId id, const Header& header) {
  if (exchanges_[id].route == Route::memory) {
    push(id, header);
    return;
  }
  // The receives of a reply stay inactive; they come first.
  const Exchange& exchange = exchanges_[id];
  const auto sends = static_cast<int>(bundle(id).pushed(wire_).messages);
  write_push(id, header);
  for (int i = exchange.requests - sends; i < exchange.requests; ++i) requests_.start(exchange.first + i);
  for (int done = 0; done < sends;) done += static_cast<int>(requests_.wait_some(session_.wait).size());
}

bool WorkerChannel::advance(const Header& header) {
  const BundleId id = header.bundle;
  if (exchanges_[id].route == Route::speaks) {
    if (!side_.node->all_ready(id, header.clock)) return false;
    sum(id);
    send(id, header);
    return true;
  }
  const std::int64_t version = side_.node->version(id);
  if (version == header.version) return false;
  arrivals_.push_back({id, version, header.worker, 0});
  return true;
}

std::span<const WorkerChannel::Arrival> WorkerChannel::poll() {
  arrivals_.clear();
  Header header;
  for (Neighbour& neighbour : neighbours_)
    while (neighbour.replies.take(header)) accept(header, header.bundle);
  std::erase_if(together_, [this](const Header& push) { return advance(push); });
  if (requests_.size() > 0) complete(requests_.test_some());
  return arrivals_;
}

std::span<const WorkerChannel::Arrival> WorkerChannel::wait() {
  arrivals_.clear();
  const bool only_messages = neighbours_.empty() && gradients_.size() == 1;
  if (only_messages)
    while (arrivals_.empty()) complete(requests_.wait_some(session_.wait));
  else
    mpi::wait_until(mpi::polling(session_.wait), [this] { return !poll().empty(); });
  return arrivals_;
}

void WorkerChannel::complete(std::span<const int> requests) {
  for (const int request : requests) {
    const BundleId id = bundle_of_request_[static_cast<std::size_t>(request)];
    // A finished send matters too: backward is about to write where it was sent from.
    if (--exchanges_[id].missing > 0) continue;
    accept(read_header(parameters_.value_arena().subspan(bundle(id).header_begin)), id);
    if (exchanges_[id].route == Route::speaks) side_.node->set_version(id, arrivals_.back().version);
  }
}

void WorkerChannel::accept(const Header& header, BundleId bundle) {
  require(header.kind == Kind::reply && header.bundle == bundle && bundle < exchanges_.size(),
          "a reply arrives in the place of its bundle");
  arrivals_.push_back({bundle, header.version, header.worker, header.flags});
}

}  // namespace steelyard::ps
