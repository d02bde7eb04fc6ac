#include <limits>
#include <set>

#include "modes/ps/consistency/consistency.hpp"
#include "modes/ps/placement/placement.hpp"
#include "modes/ps/plan.hpp"
#include "modes/ps/server_channel.hpp"
#include "modes/ps/server_loop.hpp"
#include "modes/ps/synchronizer.hpp"
#include "modes/server_ranks.hpp"

namespace steelyard {
namespace ps {
namespace {

std::vector<Shard> place(const TrialConfig& config, const Inventory& inventory) {
  return find_placement(config.placement).value()(inventory, {config.servers, config.placement_offset});
}

Plan plan_for(const TrialConfig& config, const Inventory& inventory) {
  return make_plan(inventory, place(config, inventory), config.servers, config.bundle_bytes);
}

Status check(const TrialConfig& config, const ModelSpec& model, int ranks) {
  if (ranks < 2)
    return Error{"ps needs at least 2 ranks, one server and one worker, and has " + std::to_string(ranks) +
                 "; start it with mpirun -n 2 or more"};
  if (config.servers < 1 || config.servers >= ranks)
    return Error{"--servers " + std::to_string(config.servers) + " of " + std::to_string(ranks) +
                 " ranks: ps needs at least one server and one worker, so 1 to " + std::to_string(ranks - 1)};
  if (auto parsed = parse_server_ranks(config.server_ranks, config.servers, ranks); !parsed)
    return parsed.error();
  if (auto placement = find_placement(config.placement); !placement) return placement.error();
  auto consistency = make_consistency(config.consistency);
  if (!consistency) return consistency.error();
  const int workers = ranks - config.servers;
  const bool every_push_alone = consistency.value()->pushes_per_update(2) == 1;
  if (config.deterministic && every_push_alone && workers > 1)
    return Error{"--deterministic with --consistency " + config.consistency +
                 ": the order of its updates depends on timing; use bsp, or one worker"};
  for (const Bundle& bundle : plan_for(config, model.inventory).bundles)
    if (bundle.bytes() + sizeof(Header) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      return Error{
          "placement '" + config.placement + "' makes a bundle of " + std::to_string(bundle.bytes()) +
          " bytes; a message holds at most 2^31 - 1: use more servers, or a placement that cuts tensors"};
  return success();
}

StepTraffic traffic(const TrialConfig& config, const ModelSpec& model, int) {
  const Plan plan = plan_for(config, model.inventory);
  StepTraffic traffic;
  traffic.servers.resize(static_cast<std::size_t>(config.servers));
  std::vector<std::set<TensorId>> tensors(traffic.servers.size());
  for (const Bundle& bundle : plan.bundles) {
    auto& server = traffic.servers[static_cast<std::size_t>(bundle.server)];
    server.bytes += bundle.bytes();
    server.elements += bundle.elements;
    server.messages += static_cast<std::size_t>(bundle.messages());
    traffic.worker_bytes_out += bundle.bytes();
    traffic.worker_messages_out += static_cast<std::size_t>(bundle.messages());
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
  mpi::barrier(session.workers, session.wait);
  mpi::broadcast(session.workers, std::as_writable_bytes(parameters.value_arena()), 0);
}

void work(Session& session, const Plan& plan, int worker) {
  const TrialConfig& config = session.config;
  Parameters parameters(session.model.inventory, plan.layout);
  parameters.initialise(config.seed);
  PsSynchronizer synchronizer(session, plan, parameters, worker);
  const int workers = static_cast<int>(session.roles.workers.size());
  const bool every_push_alone =
      make_consistency(config.consistency).value()->pushes_per_update(workers) < workers;
  // A lone push is an update of its own, so it weighs as much as all pushes of a step together would.
  const Share share{worker, workers};
  const auto model = make_model(session, share, !every_push_alone);
  Worker self{share, *model, parameters, synchronizer, every_push_alone ? static_cast<float>(workers) : 1.0F};
  mpi::barrier(session.pushes, session.wait);
  worker_loop(session, self);
  collect_final_values(session, plan, parameters, worker);
  conclude(session, self);
}

void run(Session& session) {
  const Plan plan = plan_for(session.config, session.model.inventory);
  const int server = Roles::index_in(session.roles.servers, session.world.rank());
  if (server != Roles::kNone)
    serve(session, plan, server);
  else
    work(session, plan, Roles::index_in(session.roles.workers, session.world.rank()));
}

Roles roles(const TrialConfig& config, const std::vector<int>& node_of_rank) {
  return choose_server_ranks(config.server_ranks, config.servers, node_of_rank);
}

}  // namespace
}  // namespace ps

const Mode& ps_mode() {
  static constexpr Mode kMode{ps::check, ps::roles, ps::traffic, ps::placement_rows, ps::run};
  return kMode;
}

}  // namespace steelyard
