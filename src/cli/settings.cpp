#include "src/cli/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "src/cli/evaluation_settings.hpp"
#include "src/cli/option_dependencies.hpp"
#include "src/cli/placement_settings.hpp"

namespace steelyard::cli {
namespace {

constexpr std::size_t kLeastPiece = 64;
constexpr std::size_t kSharedPiece = std::size_t{4} << 20U;
constexpr std::size_t kEagerPiece = mpi::kEagerBytes - (std::size_t{16} << 10U);

Status one_of(const Options& options, std::string_view name,
              std::initializer_list<std::string_view> allowed) {
  std::string list;
  for (const std::string_view word : allowed) {
    if (options.text(name) == word) return success();
    list += (list.empty() ? "" : ", ") + std::string(word);
  }
  return Error{fmt::format("--{} '{}': choose one of: {}", name, options.text(name), list)};
}

/// A given option that would have no effect is a mistake that the user wants to hear of.
Status check_dependencies(const Options& options) {
  const auto value_of = [&options](std::string_view name) -> std::optional<std::string> {
    if (name == "mode" && options.command != Command::train) return std::nullopt;
    return options.text(name);
  };
  for (const OptionSpec& spec : option_specs()) {
    const bool asked =
        (spec.commands & static_cast<unsigned>(options.command)) != 0 && options.given(spec.name);
    if (!asked || (std::string_view(spec.name) == "lr-scale" && options.text("lr-scale") == "none")) continue;
    if (const std::string lacking = lacks(spec.name, value_of); !lacking.empty())
      return Error{fmt::format("--{} has no effect here: it goes with {}", spec.name, lacking)};
  }
  return success();
}

Status not_both(const Options& options, std::string_view first, std::string_view second) {
  if (options.source(first) != options.source(second) || !options.given(first)) return success();
  return Error{fmt::format("--{} and --{} are two ways to say one thing; give one of them", first, second)};
}

template <typename... Checks>
Status first_error(Checks&&... checks) {
  Status result = success();
  const auto run = [&result](auto&& check) {
    if (result) result = check();
  };
  (run(checks), ...);
  return result;
}

/// Of two options that say one thing: whether `name` counts and not `other`. The later source wins; in a file
/// that names both, 0 means "see the other".
bool counts(const Options& options, std::string_view name, std::string_view other) {
  if (options.source(name) != options.source(other)) return options.source(name) > options.source(other);
  return options.integer(name) > 0;
}

/// compare: whether --trial-seconds decides how long a trial is. So it does unless steps or epochs are given
/// at least as late; a file that names all three, as run.toml does, means those.
bool by_time(const Options& options) {
  if (options.command == Command::train) return false;
  const auto given = [&](std::string_view name) {
    return options.integer(name) > 0 && options.source(name) >= options.source("trial-seconds");
  };
  return !given("steps") && !given("epochs");
}

std::string mode_of(const Options& options) {
  return options.command == Command::train ? options.text("mode") : "ps";
}

Status check_combinations(const Options& options) {
  const bool train = options.command == Command::train;
  return first_error(
      [&] {
        return one_of(options, "trace", {"full", "off"});
      },
      [&] {
        return one_of(options, "progress", {"auto", "always", "never"});
      },
      [&] {
        return one_of(options, "device", {"cpu", "cuda"});
      },
      [&] {
        return one_of(options, "nccl-algo",
                      {"Ring", "Tree", "CollnetDirect", "CollnetChain", "NVLS", "NVLSTree", "PAT", "auto"});
      },
      [&] {
        return one_of(options, "lr-scale", {"none", "workers"});
      },
      [&] {
        return one_of(options, "on-drop", {"skip", "recompute"});
      },
      [&] {
        return train ? one_of(options, "evaluate", {"epoch", "end", "never"})
                     : one_of(options, "evaluate", {"end", "never"});
      },
      [&] { return check_evaluation(options); }, [&] { return not_both(options, "steps", "epochs"); },
      [&] { return train ? success() : not_both(options, "steps", "trial-seconds"); },
      [&] { return train ? success() : not_both(options, "epochs", "trial-seconds"); },
      [&] { return not_both(options, "batch", "batch-per-worker"); },
      [&] { return check_dependencies(options); },
      [&] { return not_both(options, "compute-ms", "compute-profile"); });
}

void set_length(const Options& options, TrialRequest& request) {
  request.config.steps = 0;
  if (by_time(options)) return;
  if (counts(options, "epochs", "steps"))
    request.epochs = options.integer("epochs");
  else
    request.config.steps = options.integer("steps");
  if (request.config.steps == 0 && request.epochs == 0) request.epochs = 1;  // Of train.
}

/// Compute that is emulated, and slowness that is injected.
Status set_pace(const Options& options, TrialConfig& config) {
  config.emulation = {
      options.real("compute-ms"), static_cast<std::size_t>(options.integer("compute-samples")),
      options.text("compute-profile"), options.text("compute"), options.real("compute-grain-ms")};
  auto injection = parse_injection(options.text("slow"));
  if (!injection) return injection.error();
  config.injection = std::move(injection).value();
  return success();
}

}  // namespace

Expected<RunSettings> run_settings(const Options& options) {
  RunSettings settings;
  auto model = describe_model(options.text("model"));
  if (!model) return model.error();
  settings.model = std::move(model).value();
  if (!is_dataset_name(options.text("data")))
    return Error{
        fmt::format("unknown data set '{}'; choose one of: {}", options.text("data"), dataset_names())};
  if (auto wait = mpi::choose_wait(options.text("wait"), {}); !wait) return wait.error();
  const bool replay = settings.model.replay;
  if (replay && options.given("data") && options.text("data") != "none")
    return Error{fmt::format("--data '{}' has no effect on {}, which takes no data: leave it out",
                             options.text("data"), settings.model.name)};
  settings.data = {replay ? "none" : options.text("data"),
                   options.text("data-dir"),
                   settings.model.inputs,
                   settings.model.classes,
                   static_cast<std::uint64_t>(options.integer("seed")),
                   settings.model.tagged};
  settings.wait = options.text("wait");
  settings.instructions = options.text("instructions");
  settings.device = options.text("device");
  settings.results = options.text("results");
  settings.name = options.text("name");
  if (settings.name.find('/') != std::string::npos || settings.name == "." || settings.name == "..")
    return Error{
        fmt::format("--name '{}': must be a plain directory name; its place is --results", settings.name)};
  settings.trace = options.text("trace") == "full";
  settings.flush_seconds = options.real("flush-seconds");
  settings.json = options.text("json");
  if (options.command == Command::compare) settings.trial_seconds = options.real("trial-seconds");
  settings.dry_run = options.flag("dry-run");
  settings.progress_always = options.text("progress") == "always";
  settings.progress_never = options.text("progress") == "never";
  return settings;
}

Expected<TrialRequest> trial_request(const Options& options) {
  if (auto good = check_combinations(options); !good) return good.error();
  TrialRequest request;
  TrialConfig& config = request.config;
  const bool train = options.command == Command::train;
  config.mode = mode_of(options);
  if (auto mode = find_mode(config.mode); !mode) return mode.error();
  config.servers = train && config.mode == "ps" ? static_cast<int>(options.integer("servers")) : 0;
  config.server_ranks = options.text("server-ranks");
  config.placement = options.text("placement");
  auto placement = placement_settings(options, std::span(&config.placement, 1));
  if (!placement) return placement.error();
  config.placement_options = std::move(placement).value();
  config.consistency = options.text("consistency");
  config.consistency_options = {options.integer("max-lag"),
                                static_cast<int>(options.integer("backup-workers"))};
  config.staleness_policy = options.text("staleness-policy");
  config.staleness_options = {options.integer("max-staleness"), options.real("compensation"),
                              options.text("on-drop") == "recompute"};
  config.rate_by_workers = options.text("lr-scale") == "workers";
  config.bundle_bytes = static_cast<std::size_t>(options.integer("bundle-bytes"));
  config.piece_bytes = static_cast<std::size_t>(options.integer("piece-bytes"));
  config.transport = options.text("transport");
  config.aggregate = options.text("aggregate");
  config.collective = options.text("collective");
  config.nccl_algorithm = options.text("nccl-algo");
  config.timeout_s = options.real("timeout");
  config.wire = options.text("wire");
  config.sharded_optimizer = options.flag("sharded-optimizer");
  config.first_bucket_bytes = static_cast<std::size_t>(options.real("first-bucket-mib") * 1048576.0);
  config.bucket_bytes = static_cast<std::size_t>(options.real("bucket-mib") * 1048576.0);
  config.optimizer = options.text("optimizer");
  config.optimizer_options = {static_cast<float>(options.real("lr")),
                              static_cast<float>(options.real("momentum"))};
  config.global_batch = static_cast<std::size_t>(options.integer("batch"));
  if (counts(options, "batch-per-worker", "batch"))
    request.batch_per_worker = static_cast<std::size_t>(options.integer("batch-per-worker"));
  set_length(options, request);
  config.device = options.text("device");
  config.seed = static_cast<std::uint64_t>(options.integer("seed"));
  config.deterministic = options.flag("deterministic");
  if (auto good = set_pace(options, config); !good) return good.error();
  set_evaluation(options, request);
  request.warmup = options.integer("warmup");
  return request;
}

Expected<TrialConfig> finish_config(const TrialRequest& request, const ModelSpec& model, std::size_t samples,
                                    const mpi::Topology& topology) {
  const int ranks = topology.ranks();
  TrialConfig config = request.config;
  const int workers = std::max(ranks - config.servers, 1);
  if (request.batch_per_worker > 0)
    config.global_batch = request.batch_per_worker * static_cast<std::size_t>(workers);
  if (config.global_batch > samples)
    return Error{
        fmt::format("the global batch of {} is larger than the {} training samples; give a --batch up to {}",
                    config.global_batch, samples, samples)};
  const auto per_epoch = static_cast<Step>((samples + config.global_batch - 1) / config.global_batch);
  constexpr Step kMostSteps = Step{1} << 40U;
  if (request.epochs > kMostSteps / per_epoch || config.steps > kMostSteps)
    return Error{fmt::format("more than 2^40 steps asked for; give fewer --steps or --epochs")};
  if (request.epochs > 0) config.steps = request.epochs * per_epoch;
  if (request.evaluate_epochs) config.evaluate_every = per_epoch;
  if (config.piece_bytes == 0) config.piece_bytes = topology.nodes > 1 ? kEagerPiece : kSharedPiece;
  if (config.piece_bytes < kLeastPiece)
    return Error{
        fmt::format("--piece-bytes {}: must be 0, or {} to 2147483647", config.piece_bytes, kLeastPiece)};
  if (config.mode == "ps") config.policy_copies = ps::policy_copies(config, workers);
  config.rate_by_workers = config.rate_by_workers && config.mode == "ps";
  if (config.rate_by_workers) config.optimizer_options.rate /= static_cast<float>(workers);
  if (auto good = check_trial(config, model, topology); !good) return good.error();
  return config;
}

Step warmup_of(const TrialRequest& request, const TrialConfig& config) {
  return config.steps == 0 ? request.warmup : std::min(request.warmup, config.steps / 2);
}

}  // namespace steelyard::cli
