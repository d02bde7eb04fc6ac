#include <algorithm>
#include <utility>

#include "modes/allreduce/device.hpp"
#include "modes/allreduce/in_place.hpp"
#include "modes/allreduce/sharded.hpp"
#include "modes/allreduce/synchronizer.hpp"
#include "modes/server_ranks.hpp"

namespace steelyard {
namespace {

using namespace allreduce;

Roles roles(const TrialConfig& config, const std::vector<int>& node_of_rank) {
  Roles roles = choose_server_ranks(config.server_ranks, config.servers, node_of_rank);
  roles.idle = std::move(roles.servers);
  roles.servers.clear();
  return roles;
}

/// Whether all workers are on one node whose shared memory holds their arenas.
bool fits_in_place(const TrialConfig& config, const Roles& who, const mpi::Topology& topology,
                   std::size_t elements) {
  const auto node_of = [&](Rank rank) { return topology.node_of_rank[static_cast<std::size_t>(rank)]; };
  const int node = node_of(who.workers.front());
  const std::size_t needed = NodeArenas::bytes_for(elements, static_cast<int>(who.workers.size()));
  const bool wanted = config.collective == "shared" || (config.collective == "auto" && config.wire == "fp32");
  return wanted && std::ranges::all_of(who.workers, [&](Rank rank) { return node_of(rank) == node; }) &&
         needed + mpi::kSharedMemoryMargin <= topology.shared_memory_of_node[static_cast<std::size_t>(node)];
}

/// The backend that goes in two halves: `auto` measures whole allreduces, so it takes the ring then.
std::string split_backend(const TrialConfig& config) {
  return config.collective == "auto" ? "ring" : config.collective;
}

Status check_sharded(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const Roles who = roles(config, topology.node_of_rank);
  if (fits_in_place(config, who, topology, total_elements(model.inventory))) return success();
  if (config.collective == "shared")
    return Error{
        "--sharded-optimizer with --collective shared needs all workers on one node and room in its "
        "/dev/shm; "
        "ring, recursive, mpi and auto can do it anywhere"};
  return check_split_collective(split_backend(config));
}

Status check(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const int ranks = topology.ranks();
  if (config.servers < 0 || config.servers >= ranks)
    return Error{"allreduce with " + std::to_string(config.servers) + " idle ranks of " +
                 std::to_string(ranks) + ": at least one rank must work"};
  if (config.servers > 0)
    if (auto parsed = parse_server_ranks(config.server_ranks, config.servers, ranks); !parsed)
      return parsed.error();
  if (config.collective == "nccl")
    return config.device == "cuda" ? success()
                                   : Error{"--collective nccl sums on GPUs: it goes with --device cuda"};
  // Only the name is looked at: a communicator is made where the trial runs.
  if (auto known = check_collective(config.collective); !known) return known.error();
  return config.sharded_optimizer ? check_sharded(config, model, topology) : success();
}

StepTraffic traffic(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const Roles who = roles(config, topology.node_of_rank);
  const auto workers = static_cast<int>(who.workers.size());
  const BucketPlan plan = plan_buckets(model.inventory, config.first_bucket_bytes, config.bucket_bytes);
  StepTraffic traffic;
  traffic.buckets = plan.buckets.size();
  for (const Bucket& bucket : plan.buckets)
    traffic.worker_bytes_out += allreduce_bytes_sent(elements(bucket) * wire_bytes(config), workers);
  traffic.worker_bytes_in = traffic.worker_bytes_out;
  const bool in_halves =
      config.sharded_optimizer && !fits_in_place(config, who, topology, plan.layout.elements);
  traffic.worker_messages_out = (in_halves ? 2 : 1) * plan.buckets.size();
  return traffic;
}

std::vector<trace::PlacementRow> no_placement(const TrialConfig&, const ModelSpec&) { return {}; }

/// The sum of a bucket on every worker, or the slices and copies of one, by a backend.
using MakeBuckets = std::unique_ptr<BucketSynchronizer>(Session&, const BucketPlan&, Parameters&,
                                                        const Optimizer&, Step first);

CollectiveOptions collective_options(Session& session) {
  const TrialConfig& config = session.config;
  return {find_wire(config.wire).value(), config.deterministic, session.wait, &session.collective_choices};
}

/// Where `auto` has nothing to choose from.
void note_choice(Session& session, const BucketPlan& plan, const std::string& backend) {
  if (session.config.collective != "auto") return;
  for (const Bucket& bucket : plan.buckets)
    session.collective_choices.push_back({elements(bucket) * sizeof(float), backend, {}});
}

std::unique_ptr<BucketSynchronizer> make_replicated(Session& session, const BucketPlan& plan,
                                                    Parameters& parameters, const Optimizer& optimizer,
                                                    Step) {
  auto collective = make_collective(session.config.collective, session.workers, collective_options(session));
  return std::make_unique<AllreduceSynchronizer>(session, plan, parameters, std::move(collective).value(),
                                                 optimizer);
}

std::unique_ptr<BucketSynchronizer> make_sharded(Session& session, const BucketPlan& plan,
                                                 Parameters& parameters, const Optimizer& optimizer,
                                                 Step first) {
  const std::string backend = split_backend(session.config);
  note_choice(session, plan, backend);
  auto collective = make_split_collective(backend, session.workers, collective_options(session));
  return std::make_unique<ShardedSynchronizer>(session, plan, parameters, std::move(collective).value(),
                                               optimizer, first);
}

void train(Session& session, Share share, Parameters& parameters, Synchronizer& synchronizer) {
  const auto model = make_model(session, share, true);
  Worker self{share, *model, parameters, synchronizer};
  worker_loop(session, self);
  conclude(session, self);
}

void run_in_place(Session& session, BucketPlan plan, const Optimizer& optimizer, Share share) {
  const NodeArenas arenas(session.workers, plan.layout.elements);
  Parameters parameters(session.model.inventory, plan.layout,
                        {arenas.values(), arenas.gradients(session.workers.rank())});
  for (auto id = static_cast<TensorId>(share.worker); id < session.model.inventory.size();
       id += static_cast<TensorId>(share.workers))
    initial_values(session.model.inventory, id, session.config.seed, 0, parameters.values(id));
  const auto make = [&](const BucketPlan& buckets, Step first) {
    session.collective_choices.clear();
    note_choice(session, buckets, "shared");
    return std::make_unique<InPlaceSynchronizer>(session, buckets, arenas, optimizer, first);
  };
  RebuildingSynchronizer synchronizer(session, std::move(plan), parameters, Replicas::in_place, make);
  mpi::barrier(session.workers, session.wait);
  train(session, share, parameters, synchronizer);
  mpi::barrier(session.workers, session.wait);  // To free the window waits for all too, but burns a core.
}

void run_by_backend(Session& session, BucketPlan plan, const Optimizer& optimizer, Share share) {
  Parameters parameters(session.model.inventory, plan.layout);
  parameters.initialise(session.config.seed);
  const bool sharded = session.config.sharded_optimizer;
  MakeBuckets* const make_buckets = sharded ? make_sharded : make_replicated;
  const auto make = [&, make_buckets](const BucketPlan& buckets, Step first) {
    session.collective_choices.clear();
    return make_buckets(session, buckets, parameters, optimizer, first);
  };
  const std::int64_t begin_ns = session.recorder.now_ns();
  RebuildingSynchronizer synchronizer(session, std::move(plan), parameters,
                                      sharded ? Replicas::sharded : Replicas::whole, make);
  session.choosing_ns = session.recorder.now_ns() - begin_ns;
  train(session, share, parameters, synchronizer);
}

void run(Session& session) {
  const TrialConfig& config = session.config;
  BucketPlan plan = plan_buckets(session.model.inventory, config.first_bucket_bytes, config.bucket_bytes);
  const bool on_device = config.device == "cuda";
  const bool in_place =
      !on_device && fits_in_place(config, session.roles, session.topology, plan.layout.elements);
  session.transport = in_place ? "in_place" : "";
  const int worker = Roles::index_in(session.roles.workers, session.world.rank());
  if (worker == Roles::kNone) return;
  const Share share{worker, session.workers.size()};
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  (on_device  ? run_on_device
   : in_place ? run_in_place
              : run_by_backend)(session, std::move(plan), *optimizer, share);
}

}  // namespace

const Mode& allreduce_mode() {
  static constexpr Mode kMode{check, roles, traffic, no_placement, run};
  return kMode;
}

}  // namespace steelyard
