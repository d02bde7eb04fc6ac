#include <fmt/format.h>

#include <algorithm>

#include "src/cli/calibration.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/comparison.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

int default_rounds(const Contest& contest) {
  std::size_t family = 0;
  for (const Ratio& ratio : contest.ratios) family += ratio.basis == "ranks" ? 1 : 0;
  return rounds_for(family);
}

/// The trace numbers trials in 16 bits.
std::optional<Error> too_many_trials(const Contest& contest, int rounds, int confirm_rounds) {
  constexpr std::size_t kMost = 65535;
  const std::size_t trials = contest.contestants.size() * static_cast<std::size_t>(rounds) +
                             2 * static_cast<std::size_t>(confirm_rounds);
  if (trials <= kMost) return std::nullopt;
  return Error{
      fmt::format("{} contestants in {} rounds and {} to confirm make {} trials; one run holds up to {}",
                  contest.contestants.size(), rounds, confirm_rounds, trials, kMost)};
}

/// Copies of values for evaluations, where the number of steps was measured and not said.
std::optional<Error> too_many_copies(const Contest& contest, const ModelSpec& model) {
  for (const Contestant& one : contest.contestants)
    if (auto good = check_snapshots(one.config, model); !good) return good.error();
  return std::nullopt;
}

int stopped_early(const Launch& launch) {
  if (launch.speaks()) print_error(Error{"stopped by a signal before the first trial; there is no run"});
  return kStopped;
}

int report(const Setup& setup, const Comparison& comparison, const TrialRunner& runner) {
  if (!setup.launch.speaks()) return kDone;
  print(comparison.text(runner.tables()) + "\n" + line_text("run", runner.directory()),
        setup.settings.json == "-");
  if (setup.settings.json.empty()) return kDone;
  if (auto written = write_json(setup.settings.json, comparison.json(runner.directory(), runner.tables()));
      !written) {
    print_error(written.error());
    return kFailed;
  }
  return kDone;
}

}  // namespace

int compare(const Options& options, const Invocation& invocation) {
  const auto setup = Setup::begin(options);
  if (!setup) return kUsage;
  const Launch& launch = setup->launch;
  auto contest = make_contest(options, setup->settings.model, setup->dataset.train.count, launch.topology);
  if (any_error(launch, contest ? std::nullopt : std::optional(contest.error()))) return kUsage;
  setup->launch.validity.injected = std::ranges::any_of(
      contest.value().contestants, [](const Contestant& one) { return !one.config.injection.empty(); });
  if (setup->settings.dry_run) {
    std::vector<TrialConfig> configs;
    for (const Contestant& one : contest.value().contestants) configs.push_back(one.config);
    return setup->show_dry_run(configs);
  }

  const int asked = static_cast<int>(options.integer("rounds"));
  const int rounds = asked > 0 ? asked : default_rounds(contest.value());
  const int confirm_rounds = static_cast<int>(options.integer("confirm-rounds"));
  if (any_error(launch, too_many_trials(contest.value(), rounds, confirm_rounds))) return kUsage;
  Options effective = options;
  auto manifest = make_manifest(launch, invocation.argc, invocation.argv, invocation.environment);
  manifest["calibration"] = calibrate(*setup, contest.value(), effective);
  if (any_told_to_stop(launch)) return stopped_early(launch);
  if (any_error(launch, too_many_copies(contest.value(), setup->settings.model))) return kUsage;
  const int servers = contest.value().contestants.back().config.servers;
  Comparison comparison(*setup, std::move(contest).value(), rounds, confirm_rounds,
                        static_cast<std::uint64_t>(options.integer("seed")));
  const auto runner = TrialRunner::begin(
      launch, setup->settings, effective, setup->dataset, comparison.plan(), std::move(manifest),
      make_run_id("compare", setup->settings.model.name, servers, launch.world.size() - servers));
  if (!runner) return kUsage;
  comparison.run(*runner);
  int status = comparison.stopped() ? kStopped : comparison.diverged() ? kCheckFailed : kDone;
  if (launch.speaks()) runner->keep_comparison(comparison.outcome_json());
  runner->finish(status);
  if (const int reported = report(*setup, comparison, *runner); reported != kDone) status = reported;
  return static_cast<int>(mpi::greatest(launch.world, status));
}

}  // namespace steelyard::cli
