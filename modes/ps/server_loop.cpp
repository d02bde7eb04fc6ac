#include "modes/ps/server_loop.hpp"

#include <memory>

#include "modes/ps/meter.hpp"
#include "modes/ps/server.hpp"
#include "modes/ps/server_channel.hpp"

namespace steelyard::ps {
namespace {

using trace::Phase;

/// Where an update needs every worker, all have received the values before it, so one copy is enough; so it
/// is where nothing is sent, since writing into a neighbour's arena takes no time to wait for.
int copies_for(const Session& session, const Consistency& consistency, const NodeMemory* node) {
  const auto workers = session.roles.workers.size();
  const bool all_together =
      consistency.pushes_per_update(static_cast<int>(workers)) == static_cast<int>(workers);
  return all_together || (node != nullptr && node->roles().workers.size() == workers) ? 1 : 2;
}

void initialise(const Session& session, const Plan& plan, BundleId bundle, std::span<float> values) {
  for (const ShardId id : plan.bundles[bundle].shards) {
    const Shard& shard = plan.shards[id];
    initial_values(session.model.inventory, shard.tensor, session.config.seed, shard.begin,
                   values.first(shard.elements()));
    values = values.subspan(shard.elements());
  }
}

/// One server at work.
class Loop {
 public:
  Loop(Session& session, const Plan& plan, int index, Server& server, ServerChannel& channel)
      : session_(session),
        server_(server),
        workers_(static_cast<int>(session.roles.workers.size())),
        bundles_(plan.bundles_of_server[static_cast<std::size_t>(index)]),
        plan_(plan),
        channel_(channel),
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
  void handle(const ServerEvent& event) {
    const int worker = event.reply.worker;
    const int number = event.reply.bundle;
    trace::Recorder& recorder = session_.recorder;
    const std::uint64_t updates = server_.updates();
    meter_.begin_work();
    const std::int64_t begin_ns = recorder.now_ns();
    if (event.push) {
      meter_.count_push(number, channel_.pushed(worker, number));
      channel_.unpack(worker, number);
      server_.receive(worker, number, event.header, begin_ns);
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
    // A reply that leaves at once may make others due.
    for (std::size_t i = 0; i < server_.due().size(); ++i) {
      const Reply reply = server_.due()[i];
      const std::int64_t begin_ns = session_.recorder.now_ns();
      const bool left = channel_.start(reply);
      meter_.count_reply(channel_.pulled(reply.worker, reply.bundle));
      record(Phase::reply, reply.worker, reply.bundle, begin_ns);
      if (!left) continue;
      ++sent_;
      server_.sent(reply, begin_ns);
    }
    server_.due().clear();
  }

  Session& session_;
  Server& server_;
  int workers_;
  const std::vector<BundleId>& bundles_;
  const Plan& plan_;
  ServerChannel& channel_;
  Meter meter_;
  std::uint64_t sent_ = 0;  ///< Replies that have left.
};

void send_final_values(Session& session, const std::vector<BundleId>& bundles, const Server& server) {
  mpi::Requests requests;
  for (std::size_t i = 0; i < bundles.size(); ++i)
    requests.start(requests.add_send(session.replies, std::as_bytes(server.values(static_cast<int>(i))),
                                     session.roles.workers.front(), elements_tag(bundles[i])));
  for (std::size_t done = 0; done < bundles.size();) done += requests.wait_some(session.wait).size();
}

}  // namespace

void serve(Session& session, const Plan& plan, int index, const NodeMemory* node) {
  const TrialConfig& config = session.config;
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  const auto consistency = std::move(make_consistency(config.consistency)).value();
  const auto& bundles = plan.bundles_of_server[static_cast<std::size_t>(index)];
  const int workers = static_cast<int>(session.roles.workers.size());
  const int servers = static_cast<int>(session.roles.servers.size());
  const int copies = copies_for(session, *consistency, node);
  const ServerMemory memory(plan, bundles, workers, copies, node);
  for (int number = 0; number < static_cast<int>(bundles.size()); ++number)
    initialise(session, plan, bundles[static_cast<std::size_t>(number)], memory.outbox(0, number).elements);
  Server server({workers, index * workers / servers, copies, config.deterministic}, *optimizer, *consistency,
                bundles, memory.views());
  ServerChannel channel(session, plan, index, memory, copies, node);
  Loop loop(session, plan, index, server, channel);
  mpi::barrier(session.pushes, session.wait);
  loop.run();
  if (node == nullptr || !node->in_place()) send_final_values(session, bundles, server);
}

}  // namespace steelyard::ps
