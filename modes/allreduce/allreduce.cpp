#include "modes/allreduce/synchronizer.hpp"
#include "modes/server_ranks.hpp"

namespace steelyard {
namespace {

using namespace allreduce;

Status check(const TrialConfig& config, const ModelSpec&, const mpi::Topology& topology) {
  const int ranks = topology.ranks();
  if (config.servers < 0 || config.servers >= ranks)
    return Error{"allreduce with " + std::to_string(config.servers) + " idle ranks of " +
                 std::to_string(ranks) + ": at least one rank must work"};
  if (config.servers > 0)
    if (auto parsed = parse_server_ranks(config.server_ranks, config.servers, ranks); !parsed)
      return parsed.error();
  // Only the name is looked at: a communicator is made where the trial runs.
  if (auto known = check_collective(config.collective); !known) return known.error();
  return success();
}

Roles roles(const TrialConfig& config, const std::vector<int>& node_of_rank) {
  Roles roles = choose_server_ranks(config.server_ranks, config.servers, node_of_rank);
  roles.idle = std::move(roles.servers);
  roles.servers.clear();
  return roles;
}

StepTraffic traffic(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const auto workers = static_cast<int>(roles(config, topology.node_of_rank).workers.size());
  const BucketPlan plan = plan_buckets(model.inventory, config.first_bucket_bytes, config.bucket_bytes);
  StepTraffic traffic;
  traffic.buckets = plan.buckets.size();
  for (const Bucket& bucket : plan.buckets)
    traffic.worker_bytes_out += allreduce_bytes_sent((bucket.end - bucket.begin) * sizeof(float), workers);
  traffic.worker_messages_out = plan.buckets.size();
  return traffic;
}

std::vector<trace::PlacementRow> no_placement(const TrialConfig&, const ModelSpec&) { return {}; }

void run(Session& session) {
  const int worker = Roles::index_in(session.roles.workers, session.world.rank());
  if (worker == Roles::kNone) return;
  const TrialConfig& config = session.config;
  const BucketPlan plan =
      plan_buckets(session.model.inventory, config.first_bucket_bytes, config.bucket_bytes);
  Parameters parameters(session.model.inventory, plan.layout);
  parameters.initialise(config.seed);
  const Share share{worker, session.workers.size()};
  const auto model = make_model(session, share, true);
  const auto optimizer = std::move(make_optimizer(config.optimizer, config.optimizer_options)).value();
  const auto collective = std::move(make_collective(config.collective, session.workers)).value();
  AllreduceSynchronizer synchronizer(session, plan, parameters, *collective, *optimizer);

  Worker self{share, *model, parameters, synchronizer};
  worker_loop(session, self);
  conclude(session, self);
}

}  // namespace

const Mode& allreduce_mode() {
  static constexpr Mode kMode{check, roles, traffic, no_placement, run};
  return kMode;
}

}  // namespace steelyard
