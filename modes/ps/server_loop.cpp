#include "modes/ps/server_loop.hpp"

#include <memory>

#include "modes/ps/meter.hpp"
#include "modes/ps/server.hpp"
#include "modes/ps/server_channel.hpp"

namespace steelyard::ps {
namespace {

using trace::Phase;

std::unique_ptr<Server> make_server(const Session& session, const Plan& plan, int index,
                                    const Optimizer& optimizer, const Consistency& consistency) {
  const TrialConfig& config = session.config;
  const auto& bundles = plan.bundles_of_server[static_cast<std::size_t>(index)];
  std::vector<std::size_t> elements;
  for (const BundleId id : bundles) elements.push_back(plan.bundles[id].elements);
  const int workers = static_cast<int>(session.roles.workers.size());
  const int servers = static_cast<int>(session.roles.servers.size());
  // Where an update needs every worker, all have received the values before it, so one copy is enough.
  const int copies = consistency.pushes_per_update(workers) == workers ? 1 : 2;
  auto server = std::make_unique<Server>(
      ServerOptions{workers, index * workers / servers, copies, config.deterministic}, optimizer, consistency,
      bundles, elements);
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    auto values = server->values(static_cast<int>(i));
    for (const ShardId id : plan.bundles[bundles[i]].shards) {
      const Shard& shard = plan.shards[id];
      initial_values(session.model.inventory, shard.tensor, config.seed, shard.begin,
                     values.first(shard.elements()));
      values = values.subspan(shard.elements());
    }
  }
  return server;
}

/// One server at work.
class Loop {
 public:
  Loop(Session& session, const Plan& plan, int index, Server& server)
      : session_(session),
        server_(server),
        workers_(static_cast<int>(session.roles.workers.size())),
        bundles_(plan.bundles_of_server[static_cast<std::size_t>(index)]),
        plan_(plan),
        channel_(session, plan, bundles_, server, server.copies()),
        meter_(session.recorder, plan, bundles_, server, workers_) {}

  void run() {
    const std::uint64_t transfers = static_cast<std::uint64_t>(session_.config.steps) * bundles_.size() *
                                    static_cast<std::uint64_t>(workers_);
    while (sent_ < transfers) {
      meter_.begin_wait();
      const auto events = channel_.wait();
      meter_.end_wait();
      for (const auto& event : events) handle(event);
      meter_.close_if_due();
      session_.recorder.flush_if_due();
    }
    meter_.finish();
  }

 private:
  void handle(const ServerChannel::Event& event) {
    const auto [worker, number, copy, clock] = event.reply;
    trace::Recorder& recorder = session_.recorder;
    const std::uint64_t updates = server_.updates();
    meter_.begin_work();
    const std::int64_t begin_ns = recorder.now_ns();
    if (event.push) {
      meter_.count_push(number);
      server_.receive(worker, number, begin_ns);
    } else {
      ++sent_;
      server_.sent(event.reply, begin_ns);
    }
    const bool applied = server_.updates() != updates;
    if (event.push || applied) record(applied ? Phase::apply : Phase::serve, worker, number, begin_ns);
    start_replies();
    meter_.end_work(number, applied);
    if (number == 0 && applied) session_.progress(server_.clock(worker, 0));
  }

  void record(Phase phase, int worker, int number, std::int64_t begin_ns) {
    const Bundle& bundle = plan_.bundles[bundles_[static_cast<std::size_t>(number)]];
    session_.recorder.event(phase, server_.clock(worker, number) - 1, begin_ns,
                            session_.roles.workers[static_cast<std::size_t>(worker)],
                            static_cast<int>(bundle.shards.front()), bundle.bytes());
  }

  void start_replies() {
    for (const Reply& reply : server_.due()) {
      const std::int64_t begin_ns = session_.recorder.now_ns();
      channel_.start(reply);
      meter_.count_reply(reply.bundle);
      record(Phase::reply, reply.worker, reply.bundle, begin_ns);
    }
    server_.due().clear();
  }

  Session& session_;
  Server& server_;
  int workers_;
  const std::vector<BundleId>& bundles_;
  const Plan& plan_;
  ServerChannel channel_;
  Meter meter_;
  std::uint64_t sent_ = 0;  ///< Replies that have left.
};

void send_final_values(Session& session, const std::vector<BundleId>& bundles, Server& server) {
  mpi::Requests requests;
  for (std::size_t i = 0; i < bundles.size(); ++i)
    requests.start(requests.add_send(session.replies, std::as_bytes(server.values(static_cast<int>(i))),
                                     session.roles.workers.front(), elements_tag(bundles[i])));
  for (std::size_t done = 0; done < bundles.size();) done += requests.wait_some(session.wait).size();
}

}  // namespace

void serve(Session& session, const Plan& plan, int index) {
  const TrialConfig& config = session.config;
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  const auto consistency = std::move(make_consistency(config.consistency)).value();
  const auto server = make_server(session, plan, index, *optimizer, *consistency);
  Loop loop(session, plan, index, *server);
  mpi::barrier(session.pushes, session.wait);
  loop.run();
  send_final_values(session, plan.bundles_of_server[static_cast<std::size_t>(index)], *server);
}

}  // namespace steelyard::ps
