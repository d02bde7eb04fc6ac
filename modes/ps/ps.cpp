#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/placement/placement.hpp"
#include "modes/ps/plan.hpp"
#include "modes/ps/remembered.hpp"
#include "modes/ps/server_loop.hpp"
#include "modes/ps/server_messages.hpp"
#include "modes/ps/synchronizer.hpp"
#include "modes/server_ranks.hpp"
#include "modes/stopping.hpp"
#include "src/base/check.hpp"
#include "src/base/hash.hpp"
#include "src/base/log.hpp"

namespace steelyard {
namespace ps {
namespace {

std::unique_ptr<Consistency> consistency_of(const TrialConfig& config) {
  return make_consistency(config.consistency, config.consistency_options).value();
}

std::unique_ptr<StalenessPolicy> staleness_of(const TrialConfig& config) {
  return make_staleness(config.staleness_policy, config.staleness_options).value();
}

Expected<Placed> try_place(const TrialConfig& config, const Inventory& inventory) {
  const auto optimizer = make_optimizer(config.optimizer, config.optimizer_options);
  if (!optimizer) return optimizer.error();
  PlacementOptions options = config.placement_options;
  options.servers = config.servers;
  options.memory_copies = 1 + optimizer.value()->state_per_element() + config.policy_copies;
  return remembered_place(config.placement, inventory, options);
}

std::vector<Shard> place(const TrialConfig& config, const Inventory& inventory) {
  return cut_large(try_place(config, inventory).value().shards, config.piece_bytes);
}

/// Whether a reply may tell its worker that a push was dropped.
bool may_drop(const TrialConfig& config) {
  return staleness_of(config)->drops() || config.consistency_options.backup_workers > 0;
}

Plan plan_for(const TrialConfig& config, const Inventory& inventory) {
  return make_plan(inventory, place(config, inventory), config.servers, config.bundle_bytes,
                   may_drop(config));
}

bool all_together(const TrialConfig& config, int workers) {
  return consistency_of(config)->pushes_per_update(workers) == workers;
}

Roles roles(const TrialConfig& config, const std::vector<int>& node_of_rank) {
  return choose_server_ranks(config.server_ranks, config.servers, node_of_rank);
}

Expected<Transport> transport_for(const TrialConfig& config, const Plan& plan,
                                  const mpi::Topology& topology) {
  const Roles who = roles(config, topology.node_of_rank);
  return choose_transport(config, plan, who, topology,
                          all_together(config, static_cast<int>(who.workers.size())));
}

Status check_policies(const TrialConfig& config, int workers) {
  const auto consistency = make_consistency(config.consistency, config.consistency_options);
  if (!consistency) return consistency.error();
  const auto staleness = make_staleness(config.staleness_policy, config.staleness_options);
  if (!staleness) return staleness.error();
  if (consistency.value()->by_step() && config.staleness_policy != "keep")
    return Error{"--staleness-policy " + config.staleness_policy + " with --consistency " +
                 config.consistency + ": its gradients are never stale; use asp or ssp"};
  if (config.consistency_options.backup_workers >= workers)
    return Error{"--backup-workers " + std::to_string(config.consistency_options.backup_workers) + " of " +
                 std::to_string(workers) + " workers: an update needs at least one push, so 0 to " +
                 std::to_string(workers - 1)};
  if (config.deterministic && consistency.value()->pushes_per_update(workers) < workers)
    return Error{"--deterministic with --consistency " + config.consistency +
                 (config.consistency_options.backup_workers > 0 ? " and backup workers" : "") +
                 ": what its updates hold depends on timing; use bsp with all workers, or one worker"};
  return success();
}

Status check(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const int ranks = topology.ranks();
  if (ranks < 2)
    return Error{"ps needs at least 2 ranks, one server and one worker, and has " + std::to_string(ranks) +
                 "; start it with mpirun -n 2 or more"};
  if (config.servers < 1 || config.servers >= ranks)
    return Error{"--servers " + std::to_string(config.servers) + " of " + std::to_string(ranks) +
                 " ranks: ps needs at least one server and one worker, so 1 to " + std::to_string(ranks - 1)};
  if (auto parsed = parse_server_ranks(config.server_ranks, config.servers, ranks); !parsed)
    return parsed.error();
  if (auto policies = check_policies(config, ranks - config.servers); !policies) return policies;
  if (auto placed = try_place(config, model.inventory); !placed) return placed.error();
  const Plan plan = plan_for(config, model.inventory);
  if (auto transport = transport_for(config, plan, topology); !transport) return transport.error();
  for (const Bundle& bundle : plan.bundles)
    if (bundle.bytes() + sizeof(Header) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return Error{
          "placement '" + config.placement + "' makes a bundle of " + std::to_string(bundle.bytes()) +
          " bytes; a message holds at most 2^31 - 1: use more servers, or a placement that cuts tensors"};
  return success();
}

StepTraffic traffic(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const Plan plan = plan_for(config, model.inventory);
  StepTraffic traffic;
  const Transport transport = transport_for(config, plan, topology).value();
  traffic.transport = transport.name;
  traffic.aggregate = transport.aggregate;
  const bool shared = traffic.transport == "shared";
  traffic.optimum = try_place(config, model.inventory).value().optimum;
  traffic.servers.resize(static_cast<std::size_t>(config.servers));
  std::vector<std::set<TensorId>> tensors(traffic.servers.size());
  for (const Bundle& bundle : plan.bundles) {
    auto& server = traffic.servers[static_cast<std::size_t>(bundle.server)];
    const Moved moved = shared ? bundle.shared() : bundle.pushed(find_wire(config.wire).value());
    const Moved back = shared ? bundle.shared() : bundle.pulled();
    server.bytes += moved.bytes;
    server.elements += bundle.elements;
    server.messages += moved.messages;
    traffic.worker_bytes_out += moved.bytes;
    traffic.worker_messages_out += moved.messages;
    traffic.worker_bytes_in += back.bytes;
    traffic.worker_messages_in += back.messages;
  }
  for (const Shard& shard : plan.shards) tensors[static_cast<std::size_t>(shard.server)].insert(shard.tensor);
  for (std::size_t i = 0; i < tensors.size(); ++i) traffic.servers[i].tensors = tensors[i].size();
  return traffic;
}

std::vector<trace::PlacementRow> placement_rows(const TrialConfig& config, const ModelSpec& model) {
  std::vector<trace::PlacementRow> rows;
  for (const Shard& shard : place(config, model.inventory))
    rows.push_back({0, 0, static_cast<std::int32_t>(rows.size()), static_cast<std::int32_t>(shard.tensor),
                    shard.begin, shard.end, shard.server});
  return rows;
}

/// Worker 0 receives the final values of every server; then every worker has them.
void collect_final_values(Session& session, const Plan& plan, Parameters& parameters, int worker) {
  session.stopping->barrier(session.workers, session.wait);  // Others may still train.
  if (worker == 0) {
    mpi::Requests requests;
    for (BundleId id = 0; id < plan.bundles.size(); ++id) {
      const Bundle& bundle = plan.bundles[id];
      const auto values = parameters.value_arena().subspan(bundle.begin, bundle.elements);
      requests.start(requests.add_receive(session.replies, std::as_writable_bytes(values),
                                          session.roles.servers[static_cast<std::size_t>(bundle.server)],
                                          elements_tag(id)));
    }
    for (std::size_t done = 0; done < plan.bundles.size();) done += requests.wait_some(session.wait).size();
  }
  mpi::broadcast(session.workers, std::as_writable_bytes(parameters.value_arena()), 0);
}

WorkerSide side_of(const Session& session, const Plan& plan, const Transport& transport, int worker,
                   const NodeMemory* node) {
  WorkerSide side{plan, worker, {}, {}, node};
  for (int server = 0; server < session.config.servers; ++server) {
    const auto sources = sources_of(transport, session.roles, session.topology, server);
    const auto own = std::ranges::find_if(sources, [worker](const Source& source) {
      return std::ranges::find(source.workers, worker) != source.workers.end();
    });
    side.source_at.push_back(static_cast<int>(own - sources.begin()));
    auto& first = side.worker_of_source.emplace_back();
    for (const Source& source : sources) first.push_back(source.workers.front());
  }
  return side;
}

/// The servers of a node that has its values in one place write theirs; what comes from elsewhere is shared
/// out among its workers.
void initialise(const Session& session, const WorkerSide& side, Parameters& parameters) {
  if (side.node == nullptr || !side.node->in_place()) {
    parameters.initialise(session.config.seed);
    return;
  }
  for (BundleId id = 0; id < side.plan.bundles.size(); ++id) {
    const Bundle& bundle = side.plan.bundles[id];
    if (!side.node->has_server(bundle.server) && side.node->agent(id) == side.worker)
      initial_values(session.model.inventory, side.plan, bundle, session.config.seed,
                     parameters.value_arena().subspan(bundle.begin, bundle.elements));
  }
}

void work(Session& session, const WorkerSide& side) {
  const TrialConfig& config = session.config;
  const int workers = static_cast<int>(session.roles.workers.size());
  Parameters parameters(session.model.inventory, side.plan.layout,
                        side.node == nullptr ? Arenas{} : side.node->arenas(side.worker));
  initialise(session, side, parameters);
  PsSynchronizer synchronizer(session, side, parameters);
  const bool together = all_together(config, workers);
  const Share share{side.worker, workers};
  const auto model = make_model(session, share, together);
  // The pushes of an update weigh together as much as those of all workers would: a lone one as much as all.
  const int pushes = consistency_of(config)->pushes_per_update(workers);
  Worker self{share, *model, parameters, synchronizer,
              static_cast<float>(workers) / static_cast<float>(pushes)};
  mpi::barrier(session.pushes, session.wait);
  worker_loop(session, self);
  if (!together) collect_final_values(session, side.plan, parameters, side.worker);
  conclude(session, self);
}

/// Ranks that placed differently, as with another file at the same path, would wait for each other for ever.
void require_same_placement(const Session& session, const Plan& plan) {
  Fnv1a hash;
  for (const Shard& s : plan.shards) {
    const std::uint64_t words[] = {s.tensor, s.begin, s.end, static_cast<std::uint64_t>(s.server)};
    hash.add(std::as_bytes(std::span(words)));
  }
  const auto mine = static_cast<std::int64_t>(hash.value() >> 1U);
  const std::int64_t greatest = mpi::greatest(session.world, mine);
  require(greatest == -mpi::greatest(session.world, -mine), "ranks disagree on which server owns what");
}

void run(Session& session) {
  const Plan plan = plan_for(session.config, session.model.inventory);
  require_same_placement(session, plan);
  const Transport transport = transport_for(session.config, plan, session.topology).value();
  session.transport = transport.name;
  session.aggregate = transport.aggregate;
  if (!transport.note.empty() && session.world.rank() == 0)
    warn("values and gradients travel by messages: " + transport.note);
  const int number = session.topology.node_of_rank[static_cast<std::size_t>(session.world.rank())];
  const mpi::Communicator node = session.world.split(number);
  const NodeTransport& here = transport.nodes[static_cast<std::size_t>(number)];
  std::optional<NodeMemory> memory;
  if (here.shared) memory.emplace(node, plan, roles_on_node(session.roles, session.topology, number), here);
  const NodeMemory* const shared = memory ? &*memory : nullptr;
  const int server = Roles::index_in(session.roles.servers, session.world.rank());
  if (server != Roles::kNone)
    serve(session, plan, transport, server, shared);
  else
    work(session, side_of(session, plan, transport,
                          Roles::index_in(session.roles.workers, session.world.rank()), shared));
  session.stopping->barrier(node, session.wait);  // To free the window waits for all too, but burns a core.
}

}  // namespace

std::size_t policy_copies(const TrialConfig& config, int workers) {
  const auto policy = make_staleness(config.staleness_policy);
  if (!policy) return 0;
  return (policy.value()->needs_values_read() ? static_cast<std::size_t>(workers) : 0U) +
         (policy.value()->needs_worth() ? 1U : 0U);
}

}  // namespace ps

const Mode& ps_mode() {
  static constexpr Mode kMode{ps::check, ps::roles, ps::traffic, ps::placement_rows, ps::run};
  return kMode;
}

}  // namespace steelyard
