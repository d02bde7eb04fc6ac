#include "modes/trial.hpp"
#include "src/collective/links.hpp"

namespace steelyard {
namespace {

using Kind = Injection::Kind;
using Item = Injection::Item;

Error wrong(const Item& item, const std::string& what) { return {"--slow '" + item.text + "': " + what}; }

Status check_number(const Item& item, const char* subject, std::size_t count) {
  if (item.first < static_cast<int>(count)) return success();
  const std::string most = std::to_string(count - 1);
  return wrong(item, "there is no " + std::string(subject) + " " + std::to_string(item.first) +
                         " in this trial: " + (count == 1 ? "its only one is 0" : "they are 0 to " + most));
}

Status check_server(const Item& item, const Roles& roles) {
  if (roles.servers.empty())
    return wrong(
        item, "an allreduce has no servers; in compare say slow=... in the --trial of those that have some");
  return check_number(item, "server", roles.servers.size());
}

Status check_item(const Item& item, const Roles& roles) {
  if (item.kind == Kind::apply) return check_server(item, roles);
  return check_number(item, "worker", roles.workers.size());
}

std::string ranks_of(const Item& item) {
  return "ranks " + std::to_string(item.first) + " and " + std::to_string(item.second);
}

/// Servers and workers of one node talk through memory unless they are told not to.
Status check_ps_link(const Item& item, const TrialConfig& config, const Roles& roles,
                     const mpi::Topology& topology) {
  const auto serves = [&](Rank rank) { return Roles::index_in(roles.servers, rank) != Roles::kNone; };
  if (serves(item.first) == serves(item.second))
    return wrong(item, ranks_of(item) + " are both " + (serves(item.first) ? "servers" : "workers") +
                           ", which send each other nothing: name a server and a worker");
  const auto node_of = [&](Rank rank) { return topology.node_of_rank[static_cast<std::size_t>(rank)]; };
  if (config.transport != "message" && node_of(item.first) == node_of(item.second))
    return wrong(item, ranks_of(item) +
                           " are on one node and talk through memory that they share, which has no link: say "
                           "--transport message");
  return success();
}

Status check_allreduce_link(const Item& item, const TrialConfig& config, const Roles& roles) {
  if (!has_schedule(config.collective))
    return wrong(item, "messages of --collective " + config.collective +
                           " cannot be held back: say --collective " + std::string(scheduled_backends()));
  const int first = Roles::index_in(roles.workers, item.first);
  const int second = Roles::index_in(roles.workers, item.second);
  const auto workers = static_cast<int>(roles.workers.size());
  if (first == Roles::kNone || second == Roles::kNone)
    return wrong(item, "not both of " + ranks_of(item) + " work in this trial");
  if (!are_linked(config.collective, workers, first, second))
    return wrong(item, ranks_of(item) + " send each other nothing in a " + config.collective + " of " +
                           std::to_string(workers) + " workers");
  return success();
}

Status check_link(const Item& item, const TrialConfig& config, const Roles& roles,
                  const mpi::Topology& topology) {
  if (item.second >= topology.ranks())
    return wrong(item, "there is no rank " + std::to_string(item.second) + ": they are 0 to " +
                           std::to_string(topology.ranks() - 1));
  return roles.servers.empty() ? check_allreduce_link(item, config, roles)
                               : check_ps_link(item, config, roles, topology);
}

}  // namespace

Status check_injection(const TrialConfig& config, const Roles& roles, const mpi::Topology& topology) {
  for (const Item& item : config.injection.items()) {
    const Status good =
        item.kind == Kind::bandwidth ? check_link(item, config, roles, topology) : check_item(item, roles);
    if (!good) return good;
  }
  return success();
}

}  // namespace steelyard
