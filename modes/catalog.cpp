#include <map>

#include "modes/link_delays.hpp"
#include "modes/mode.hpp"
#include "modes/stopping.hpp"
#include "src/base/catalog.hpp"
#include "src/collective/wire.hpp"
#include "src/model/pattern.hpp"

namespace steelyard {

#define MODE(name, help) const Mode& name##_mode();
#include "modes/modes.def"
#undef MODE

namespace {

using GiveMode = const Mode&();
constexpr Choice<GiveMode> kRows[] = {
#define MODE(name, help) {#name, help, name##_mode},
#include "modes/modes.def"
#undef MODE
};

}  // namespace

Expected<const Mode*> find_mode(std::string_view name) {
  auto give = choose<GiveMode>("mode", kRows, name);
  if (!give) return give.error();
  return &give.value()();
}

std::string mode_help() { return help<GiveMode>(kRows); }

namespace {

/// Replay's sums are whole numbers, and exact up to 2 to the power of the significant bits.
Status check_replayed_sums(Wire wire, int ranks) {
  const int most = wire == Wire::fp32   ? Pattern::most_workers(24)
                   : wire == Wire::fp16 ? Pattern::most_workers(11)
                                        : Pattern::most_workers(8);
  if (ranks <= most) return success();
  return Error{"replay checks sums of up to " + std::to_string(most) +
               " workers exactly with this wire; there are " + std::to_string(ranks) + " ranks"};
}

Status check_wire(const TrialConfig& config, const ModelSpec& model, int ranks) {
  const auto wire = find_wire(config.wire);
  if (!wire) return wire.error();
  // Servers sum in single precision.
  if (config.mode == "ps") return success();
  return model.replay ? check_replayed_sums(wire.value(), ranks) : success();
}

Status check_emulation(const Emulation& emulation, const ModelSpec& model) {
  if (!model.replay) return success();
  if (auto compute = choose_compute(emulation.compute); !compute) return compute.error();
  if (auto plan = plan_compute(emulation, model.inventory, model.operations); !plan) return plan.error();
  return success();
}

/// Which two workers have taken one GPU; "" if none.
std::string shared_gpu(const std::vector<Rank>& workers, const mpi::Topology& topology) {
  std::map<std::string, Rank> taken;
  for (const Rank rank : workers) {
    if (topology.gpu_of_rank.empty()) break;
    const auto [other, alone] = taken.emplace(topology.gpu_of_rank[static_cast<std::size_t>(rank)], rank);
    if (!alone)
      return "ranks " + std::to_string(other->second) + " and " + std::to_string(rank) + " share one (" +
             other->first + ")";
  }
  return "";
}

/// What NCCL sums, and between whom.
Status check_nccl(const TrialConfig& config, const Roles& roles, const mpi::Topology& topology) {
  if (config.collective != "auto" && config.collective != "nccl")
    return Error{"--collective " + config.collective +
                 " with --device cuda: gradients of several GPUs are summed by nccl alone in this version"};
  if (config.sharded_optimizer)
    return Error{"--sharded-optimizer with --device cuda: only CPUs shard it in this version"};
  if (config.wire != "fp32")
    return Error{"--wire " + config.wire + " with --device cuda: GPUs send fp32 alone in this version"};
  if (const std::string who = shared_gpu(roles.workers, topology); !who.empty())
    return Error{"--device cuda: " + who +
                 ", and NCCL needs a GPU for each; start as many workers on a node as it has"};
  return success();
}

Status check_device(const TrialConfig& config, const Roles& roles, const mpi::Topology& topology) {
  if (config.device == "cpu") return success();
  if (config.mode != "allreduce")
    return Error{"--device cuda with --mode " + config.mode +
                 ": only allreduce computes on GPUs in this version"};
  if (!config.injection.empty())
    return Error{"--slow with --device cuda: slowness can be injected into compute on the CPU alone"};
  if (config.emulation.compute == "quota")
    return Error{"--compute quota takes time of the CPU; with --device cuda say --compute sleep"};
  return roles.workers.size() > 1 ? check_nccl(config, roles, topology) : success();
}

}  // namespace

Status check_trial(const TrialConfig& config, const ModelSpec& model, const mpi::Topology& topology) {
  const int ranks = topology.ranks();
  const auto mode = find_mode(config.mode);
  if (!mode) return mode.error();
  const auto optimizer = make_optimizer(config.optimizer, config.optimizer_options);
  if (!optimizer) return optimizer.error();
  if (auto good = check_emulation(config.emulation, model); !good) return good;
  if (auto good = check_wire(config, model, ranks); !good) return good;
  if (auto good = check_snapshots(config, model); !good) return good;
  if (auto good = mode.value()->check(config, model, topology); !good) return good;
  const Roles roles = mode.value()->roles(config, topology.node_of_rank);
  if (auto good = check_device(config, roles, topology); !good) return good;
  return config.injection.empty() ? success() : check_injection(config, roles, topology);
}

void run_session(Session& session) {
  Stopping stopping(session);
  session.stopping = &stopping;
  const std::int64_t begin_ns = session.recorder.now_ns();
  const LinkDelays delays(session);
  const std::int64_t measuring_ns = session.recorder.now_ns() - begin_ns;
  find_mode(session.config.mode).value()->run(session);
  stopping.finish();
  session.stopping = nullptr;
  session.choosing_ns += measuring_ns;
}

int Roles::index_in(const std::vector<Rank>& list, Rank rank) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] == rank) return static_cast<int>(i);
  return kNone;
}

}  // namespace steelyard
