#include "src/cli/dry_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "src/cli/console.hpp"
#include "src/cli/report.hpp"
#include "src/cli/trial_runner.hpp"
#include "src/trace/metrics.hpp"

namespace steelyard::cli {
namespace {

std::string list(const std::vector<Rank>& ranks) {
  return ranks.empty() ? "none" : fmt::format("{}", fmt::join(ranks, ","));
}

/// Of the servers' bytes, each over its weight; the mean of max/mean is all bytes over all weights.
trace::Imbalance byte_imbalance(const StepTraffic& traffic, const TrialConfig& config) {
  const std::vector<double>& weights = config.placement_options.weights;
  std::vector<double> bytes;
  double all_bytes = 0.0;
  for (const auto& server : traffic.servers) {
    bytes.push_back(static_cast<double>(server.bytes) / (weights.empty() ? 1.0 : weights[bytes.size()]));
    all_bytes += static_cast<double>(server.bytes);
  }
  trace::Imbalance result = trace::imbalance(bytes);
  if (!weights.empty() && all_bytes > 0.0)
    result.max_over_mean =
        std::ranges::max(bytes) * std::accumulate(weights.begin(), weights.end(), 0.0) / all_bytes;
  return result;
}

std::string steps_text(const TrialConfig& config, double trial_seconds) {
  return config.steps > 0 ? with_commas(config.steps)
                          : fmt::format("by time: as many as take about {} s,", number_text(trial_seconds));
}

}  // namespace

std::string dry_run_text(const Launch& launch, const RunSettings& settings, const TrialConfig& config) {
  const ModelSpec& model = settings.model;
  const Roles roles = roles_of(config, launch.topology);
  const StepTraffic traffic = find_mode(config.mode).value()->traffic(config, model, launch.topology);
  std::string text = line_text(
      "mode", config.mode == "ps"
                  ? fmt::format("ps {}, placement {}, transport {}{}", config.consistency, config.placement,
                                traffic.transport, traffic.aggregate == "node" ? " summed by node" : "")
                  : fmt::format("allreduce by {}, wire {}{}", config.collective, config.wire,
                                config.sharded_optimizer ? ", sharded optimizer" : ""));
  text += injected_text(config.injection.text());
  text += line_text("ranks", fmt::format("{} on {} node(s); servers {}; workers {}; idle {}",
                                         launch.world.size(), launch.topology.nodes, list(roles.servers),
                                         list(roles.workers), list(roles.idle)));
  text +=
      line_text("model", fmt::format("{}, {} parameters in {} tensors", model.name,
                                     with_commas(static_cast<std::int64_t>(total_elements(model.inventory))),
                                     model.inventory.size()));
  text += line_text("steps", fmt::format("{} of global batch {}", steps_text(config, settings.trial_seconds),
                                         config.global_batch));
  if (config.mode != "ps")
    return text + line_text("per step",
                            fmt::format("{} bucket(s); each worker sends and receives {}", traffic.buckets,
                                        bytes_text(static_cast<double>(traffic.worker_bytes_out))));
  text += line_text(
      "per step",
      fmt::format("each worker pushes {} in {} messages and gets {} back in {}\n",
                  bytes_text(static_cast<double>(traffic.worker_bytes_out)), traffic.worker_messages_out,
                  bytes_text(static_cast<double>(traffic.worker_bytes_in)), traffic.worker_messages_in));
  Table table({"server", "rank", "tensors", "elements", "bytes a push", "share %", "messages a push"});
  for (std::size_t i = 0; i < traffic.servers.size(); ++i) {
    const auto& server = traffic.servers[i];
    table.add({std::to_string(i), std::to_string(roles.servers[i]), std::to_string(server.tensors),
               with_commas(static_cast<std::int64_t>(server.elements)),
               bytes_text(static_cast<double>(server.bytes)),
               fmt::format("{:.2f}", 100.0 * static_cast<double>(server.bytes) /
                                         static_cast<double>(traffic.worker_bytes_out)),
               std::to_string(server.messages)});
  }
  const trace::Imbalance i = byte_imbalance(traffic, config);
  text += table.text() +
          fmt::format("bytes    {}max/mean {:.2f}   CoV {:.2f}   Gini {:.2f}\n",
                      config.placement_options.weights.empty() ? "" : "over weight: ", i.max_over_mean, i.cov,
                      i.gini);
  if (const auto& best = traffic.optimum)
    text +=
        fmt::format("optimal  fullest server {}, lower bound {}, gap {:.2f} %{}\n", bytes_text(best->load),
                    bytes_text(best->bound), 100.0 * best->gap(), best->proven ? ", proven" : "");
  return text;
}

nlohmann::json dry_run_json(const Launch& launch, const ModelSpec& model, const TrialConfig& config) {
  const Roles roles = roles_of(config, launch.topology);
  const StepTraffic traffic = find_mode(config.mode).value()->traffic(config, model, launch.topology);
  nlohmann::json out = {{"mode", config.mode},
                        {"servers", roles.servers},
                        {"workers", roles.workers},
                        {"idle", roles.idle},
                        {"wire", config.wire},
                        {"sharded_optimizer", config.sharded_optimizer},
                        {"steps", config.steps > 0 ? nlohmann::json(config.steps) : nullptr},
                        {"batch", config.global_batch},
                        {"slow", config.injection.text()},
                        {"buckets", traffic.buckets},
                        {"worker_bytes_per_step", traffic.worker_bytes_out},
                        {"worker_messages_per_step", traffic.worker_messages_out},
                        {"worker_bytes_back_per_step", traffic.worker_bytes_in},
                        {"worker_messages_back_per_step", traffic.worker_messages_in}};
  if (config.mode == "ps") {
    out["transport"] = traffic.transport;
    out["aggregate"] = traffic.aggregate;
  }
  for (const auto& server : traffic.servers) {
    out["server_bytes"].push_back(server.bytes);
    out["server_messages"].push_back(server.messages);
    out["server_elements"].push_back(server.elements);
  }
  out["max_over_mean"] = byte_imbalance(traffic, config).max_over_mean;
  if (config.mode == "ps") out["placement"] = config.placement;
  if (const auto& best = traffic.optimum)
    out["optimum"] = {{"load", best->load}, {"bound", best->bound}, {"proven", best->proven}};
  return out;
}

}  // namespace steelyard::cli
