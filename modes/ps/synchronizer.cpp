#include "modes/ps/synchronizer.hpp"

#include "modes/ps/server_channel.hpp"

namespace steelyard::ps {

using trace::Phase;

PsSynchronizer::PsSynchronizer(Session& session, const Plan& plan, Parameters& parameters, int worker)
    : session_(session),
      plan_(plan),
      parameters_(parameters),
      worker_(worker),
      exchanges_(plan.bundles.size()) {
  for (BundleId id = 0; id < plan_.bundles.size(); ++id) add_requests(id);
}

void PsSynchronizer::add_requests(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  Exchange& exchange = exchanges_[id];
  const Rank server = session_.roles.servers[static_cast<std::size_t>(bundle.server)];
  const std::size_t head = bundle.piece ? kHeaderElements : kHeaderElements + bundle.elements;
  const auto gradients = parameters_.gradient_arena();
  const auto values = parameters_.value_arena();
  exchange.missing = bundle.shards.size();
  exchange.first_send = requests_.add_send(
      session_.pushes, std::as_bytes(gradients.subspan(bundle.header_begin, head)), server, header_tag(id));
  if (bundle.piece)
    requests_.add_send(session_.pushes, std::as_bytes(gradients.subspan(bundle.begin, bundle.elements)),
                       server, elements_tag(id));
  exchange.first_receive = requests_.add_receive(
      session_.replies, std::as_writable_bytes(values.subspan(bundle.header_begin, head)), server,
      header_tag(id));
  if (bundle.piece)
    requests_.add_receive(session_.replies,
                          std::as_writable_bytes(values.subspan(bundle.begin, bundle.elements)), server,
                          elements_tag(id));
  bundle_of_request_.resize(requests_.size(), id);
}

void PsSynchronizer::values_needed(TensorId tensor) {
  for (const BundleId id : plan_.bundles_of_tensor[tensor]) await(id);
}

void PsSynchronizer::gradient_ready(TensorId tensor) {
  const trace::Scope scope(session_.recorder, Phase::push);
  for (const BundleId id : plan_.bundles_of_tensor[tensor])
    if (--exchanges_[id].missing == 0) push(id);
  progress();
}

void PsSynchronizer::push(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  Exchange& exchange = exchanges_[id];
  const Step step = session_.recorder.step();
  Header header;
  header.kind = Kind::push;
  header.bundle = id;
  header.worker = worker_;
  header.clock = step + 1;
  header.version = exchange.version;
  write_header(header, parameters_.gradient_arena().subspan(bundle.header_begin));

  const std::int64_t begin_ns = session_.recorder.now_ns();
  exchange.sends = exchange.receives = bundle.messages();
  for (int i = 0; i < bundle.messages(); ++i) requests_.start(exchange.first_receive + i);
  for (int i = 0; i < bundle.messages(); ++i) requests_.start(exchange.first_send + i);
  session_.recorder.count_sent(bundle.bytes(), static_cast<std::uint32_t>(bundle.messages()));
  session_.recorder.event(Phase::push, step, begin_ns,
                          session_.roles.servers[static_cast<std::size_t>(bundle.server)],
                          static_cast<int>(bundle.shards.front()), bundle.bytes());
}

void PsSynchronizer::progress() {
  for (const int request : requests_.test_some()) complete(request);
}

void PsSynchronizer::complete(int request) {
  const BundleId id = bundle_of_request_[static_cast<std::size_t>(request)];
  Exchange& exchange = exchanges_[id];
  if (request < exchange.first_receive)
    --exchange.sends;
  else if (--exchange.receives == 0)
    accept_reply(id);
}

void PsSynchronizer::accept_reply(BundleId id) {
  const Bundle& bundle = plan_.bundles[id];
  const Header header = read_header(parameters_.value_arena().subspan(bundle.header_begin));
  require(header.kind == Kind::reply && header.bundle == id, "a reply arrives in the place of its bundle");
  require(header.version > exchanges_[id].version, "a reply carries newer values than the one before");
  exchanges_[id].version = header.version;
  session_.recorder.count_received(bundle.bytes(), static_cast<std::uint32_t>(bundle.messages()));
}

void PsSynchronizer::await(BundleId id) {
  Exchange& exchange = exchanges_[id];
  if (exchange.idle()) return;
  const Bundle& bundle = plan_.bundles[id];
  const trace::Scope scope(session_.recorder, Phase::wait,
                           session_.roles.servers[static_cast<std::size_t>(bundle.server)],
                           static_cast<int>(bundle.shards.front()), bundle.bytes());
  // A finished send matters too: backward is about to write where it was sent from.
  while (!exchange.idle())
    for (const int request : requests_.wait_some(session_.wait)) complete(request);
}

void PsSynchronizer::finish_step(Step, bool last) {
  for (BundleId id = 0; id < exchanges_.size(); ++id) {
    exchanges_[id].missing = plan_.bundles[id].shards.size();
    if (last) await(id);
  }
}

}  // namespace steelyard::ps
