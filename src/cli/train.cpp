#include <fmt/format.h>

#include "src/cli/commands.hpp"
#include "src/cli/dry_run.hpp"
#include "src/cli/lab.hpp"
#include "src/cli/report.hpp"
#include "src/cli/setup.hpp"
#include "src/cli/trial_runner.hpp"

namespace steelyard::cli {
namespace {

int report(const Setup& setup, const TrialRunner& runner, const TrialResult& result) {
  const std::string& json_path = setup.settings.json;
  const trace::RunTables& tables = runner.tables();
  print(trial_text(tables, result.data, result.summary) + choices_text(result.collective_choices) + "\n" +
            validity_text(setup.launch) + line_text("run", runner.directory()),
        json_path == "-");
  auto json = trial_json(runner.directory(), tables, result.data, result.summary);
  json["lab"] = setup.launch.lab;
  json["collective_choices"] = result.collective_choices;
  json["bucket_rebuilds"] = result.bucket_rebuilds;
  json["dropped_heard_by_workers"] = result.drops_heard;
  if (json_path.empty()) return kDone;
  if (auto written = write_json(json_path, json); !written) {
    print_error(written.error());
    return kFailed;
  }
  return kDone;
}

}  // namespace

int train(const Options& options, const Invocation& invocation) {
  auto setup = Setup::begin(options);
  if (!setup) return kUsage;
  const Launch& launch = setup->launch;
  const auto request = trial_request(options);
  auto config = request ? finish_config(request.value(), setup->settings.model, setup->dataset.train.count,
                                        launch.topology)
                        : Expected<TrialConfig>(request.error());
  if (any_error(launch, config ? std::nullopt : std::optional(config.error()))) return kUsage;
  setup->launch.validity.injected = !config.value().injection.empty();
  if (setup->settings.dry_run) return setup->show_dry_run({config.value()});

  const Roles roles = roles_of(config.value(), launch.topology);
  const PlannedTrial trial{config.value(), config.value().mode, warmup_of(request.value(), config.value())};
  const auto runner = TrialRunner::begin(
      launch, setup->settings, options, setup->dataset, {trial},
      make_manifest(launch, invocation.argc, invocation.argv, invocation.environment),
      make_run_id(config.value().mode, setup->settings.model.name, static_cast<int>(roles.servers.size()),
                  static_cast<int>(roles.workers.size())));
  if (!runner) return kUsage;
  TrialResult result;
  {
    Progress progress = setup->progress();
    result = runner->run(trial, progress, 0.0, 1.0);
  }
  int status = static_cast<int>(mpi::greatest(launch.world, result.summary.diverged ? kCheckFailed : kDone));
  if (status == kDone && result.stopped) status = kStopped;
  runner->finish(status);
  if (launch.speaks())
    if (const int reported = report(*setup, *runner, result); reported != kDone) status = reported;
  return static_cast<int>(mpi::greatest(launch.world, status));
}

}  // namespace steelyard::cli
