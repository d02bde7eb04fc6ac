#include "modes/ps/server_loop.hpp"

#include <memory>

#include "modes/ps/apply_delay.hpp"
#include "modes/ps/meter.hpp"
#include "modes/ps/server.hpp"
#include "modes/ps/server_channel.hpp"
#include "modes/stopping.hpp"

namespace steelyard::ps {
namespace {

using trace::Phase;

/// Where an update needs every worker, all have received the values before it, so one copy is enough; so it
/// is where nothing is sent, since writing into a neighbour's arena takes no time to wait for.
int copies_for(bool all_together, const Session& session, const NodeMemory* node) {
  const bool none_far = node != nullptr && node->roles().workers.size() == session.roles.workers.size();
  return all_together || none_far ? 1 : 2;
}

/// An update that was made because a reply had left deals with no source's message.
constexpr int kNoSource = -1;

/// One server at work.
class Loop {
 public:
  Loop(Session& session, const ServerSide& side, Server& server, ServerChannel& channel)
      : session_(session),
        side_(side),
        server_(server),
        channel_(channel),
        meter_(session.recorder, side, server),
        delay_(session.config.injection.apply_factor(side.server)),
        replies_(side.sources.size() * side.bundles().size()) {}

  void run() {
    while (!server_.finished() || under_way_ > 0) {
      meter_.begin_wait();
      const auto events = channel_.wait();
      meter_.end_wait();
      for (const auto& event : events) handle(event);
      session_.stopping->told();  // To pass it on.
      meter_.close_if_due();
      session_.recorder.flush_if_due();
    }
    meter_.finish();
  }

 private:
  void handle(const ServerEvent& event) {
    const int source = event.reply.worker;
    const int number = event.reply.bundle;
    trace::Recorder& recorder = session_.recorder;
    const std::uint64_t updates = server_.updates();
    const std::uint64_t added = server_.added();
    meter_.begin_work();
    const std::int64_t begin_ns = recorder.now_ns();
    if (event.push && (event.header.flags & kNothing) != 0) {
      server_.receive(source, number, event.header, begin_ns);
      meter_.end_work(number, false);
      return;
    }
    delay_.begin();
    if (event.push) {
      meter_.count_push(number, channel_.pushed(source, number));
      channel_.unpack(source, number);
      server_.receive(source, number, event.header, begin_ns);
    } else {
      record_reply(event.reply);
      --under_way_;
      server_.sent(event.reply, begin_ns);
    }
    meter_.add_delay(delay_.end());
    const bool applied = server_.updates() != updates;
    if (event.push)
      record(applied ? Phase::apply : Phase::serve, source, number, server_.pushed(source, number), begin_ns);
    else if (applied)
      record(Phase::apply, kNoSource, number, server_.version(number), begin_ns);
    meter_.count_drops();
    start_replies();
    meter_.end_work(number, server_.added() != added);
    if (number == 0 && applied) session_.progress(server_.clock(source, 0));
  }

  /// Of a reply under way.
  struct Leaving {
    std::int64_t begin_ns = 0;
    Clock clock = 0;  ///< Of the push that it answers.
  };

  /// @param source that is dealt with, or kNoSource. @param clock of its push.
  void record(Phase phase, int source, int number, Clock clock, std::int64_t begin_ns) {
    const Bundle& bundle = side_.bundle(number);
    const BundleId id = side_.bundles()[static_cast<std::size_t>(number)];
    Rank peer = -1;
    if (source != kNoSource)
      peer = session_.roles.workers[static_cast<std::size_t>(side_.source(source).agent(id))];
    session_.recorder.event(phase, clock - 1, begin_ns, peer, static_cast<int>(bundle.shards.front()),
                            bundle.bytes());
  }

  void record_reply(const Reply& reply) {
    const Leaving& leaving = leaving_reply(reply);
    record(Phase::reply, reply.worker, reply.bundle, leaving.clock, leaving.begin_ns);
  }

  Leaving& leaving_reply(const Reply& reply) {
    return replies_[static_cast<std::size_t>(reply.worker) * side_.bundles().size() +
                    static_cast<std::size_t>(reply.bundle)];
  }

  void start_replies() {
    // A reply that leaves at once may make others due.
    for (std::size_t i = 0; i < server_.due().size(); ++i) {
      const Reply reply = server_.due()[i];
      const std::int64_t begin_ns = session_.recorder.now_ns();
      const bool left = channel_.start(reply);
      meter_.count_reply(channel_.pulled(reply.worker, reply.bundle));
      leaving_reply(reply) = {begin_ns, server_.pushed(reply.worker, reply.bundle)};
      if (!left) {
        ++under_way_;
        continue;
      }
      record_reply(reply);
      server_.sent(reply, begin_ns);
    }
    server_.due().clear();
  }

  Session& session_;
  const ServerSide& side_;
  Server& server_;
  ServerChannel& channel_;
  Meter meter_;
  ApplyDelay delay_;
  std::vector<Leaving> replies_;  ///< [sources, bundles]
  int under_way_ = 0;             ///< Replies that have not left.
};

void send_final_values(Session& session, std::span<const BundleId> bundles, const Server& server) {
  mpi::Requests requests;
  for (std::size_t i = 0; i < bundles.size(); ++i)
    requests.start(requests.add_send(session.replies, std::as_bytes(server.values(static_cast<int>(i))),
                                     session.roles.workers.front(), elements_tag(bundles[i])));
  for (std::size_t done = 0; done < bundles.size();) done += requests.wait_some(session.wait).size();
}

}  // namespace

void serve(Session& session, const Plan& plan, const Transport& transport, int index,
           const NodeMemory* node) {
  const TrialConfig& config = session.config;
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  const auto consistency =
      std::move(make_consistency(config.consistency, config.consistency_options)).value();
  const auto staleness = std::move(make_staleness(config.staleness_policy, config.staleness_options)).value();
  const int workers = static_cast<int>(session.roles.workers.size());
  const bool all_together = consistency->pushes_per_update(workers) == workers;
  const ServerSide side{plan, index, sources_of(transport, session.roles, session.topology, index),
                        copies_for(all_together, session, node), node};
  const ServerMemory memory(side);
  for (int number = 0; number < static_cast<int>(side.bundles().size()); ++number)
    initial_values(session.model.inventory, plan, side.bundle(number), config.seed,
                   memory.outbox(0, number).elements);
  const int sources = static_cast<int>(side.sources.size());
  const int servers = static_cast<int>(session.roles.servers.size());
  Server server({sources, index * sources / servers, side.copies, config.deterministic,
                 config.staleness_options.recompute},
                {*optimizer, *consistency, *staleness}, side.bundles(), memory.views());
  ServerChannel channel(session, side, memory);
  Loop loop(session, side, server, channel);
  mpi::barrier(session.pushes, session.wait);
  loop.run();
  if (!all_together) send_final_values(session, side.bundles(), server);
}

}  // namespace steelyard::ps
