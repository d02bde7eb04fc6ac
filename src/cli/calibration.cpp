#include "src/cli/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/base/check.hpp"
#include "src/cli/trial_runner.hpp"

namespace steelyard::cli {
namespace {

constexpr Step kFirstSteps = 4;
constexpr Step kMostCalibratingSteps = 2000;
constexpr std::int64_t kLongEnoughNs = 200'000'000;
constexpr double kNano = 1e-9;

/// Collective: nanoseconds of a step of the slowest worker, the mean without the first step. Records nothing.
std::int64_t time_step(const Setup& setup, TrialConfig config, Step steps) {
  const Launch& launch = setup.launch;
  config.steps = steps;
  config.evaluate_every = 0;
  config.evaluate_at_end = false;
  const Roles roles = roles_of(config, launch.topology);
  const bool works = Roles::index_in(roles.workers, launch.world.rank()) != Roles::kNone;
  const bool idle = Roles::index_in(roles.idle, launch.world.rank()) != Roles::kNone;
  const auto workers = launch.world.split(works ? 0 : -1);
  trace::Recorder recorder;
  recorder.begin_trial(0, steps);
  Session session{config,         roles,   setup.settings.model, setup.dataset, launch.world, launch.pushes,
                  launch.replies, workers, launch.topology,      launch.wait,   recorder,     [](Step) {}};
  run_session(session);
  mpi::barrier(launch.world, idle ? mpi::Wait::sleep : launch.wait);
  const auto& rows = recorder.steps();
  // A training that diverges at once has fewer.
  const auto later = std::max<std::int64_t>(static_cast<std::int64_t>(rows.size()) - 1, 1);
  const std::int64_t mine = works ? (rows.back().end_ns - rows.front().end_ns) / later : 0;
  return std::max<std::int64_t>(mpi::greatest(launch.world, mine), 1);
}

/// Few steps where they are slow, so that one step of minutes is not waited for again and again.
std::int64_t time_step(const Setup& setup, const TrialConfig& config) {
  const std::int64_t first_ns = time_step(setup, config, kFirstSteps);
  if (kFirstSteps * first_ns >= kLongEnoughNs) return first_ns;
  return time_step(setup, config,
                   std::clamp(kLongEnoughNs / first_ns, 2 * kFirstSteps, kMostCalibratingSteps));
}

}  // namespace

Step steps_for(double trial_s, double step_s, Step warmup) {
  constexpr double kMost = 1e6;
  constexpr Step kMeasured = 20;
  const double exact = std::clamp(trial_s / step_s, 1.0, kMost);
  const double unit = std::pow(10.0, std::max(std::floor(std::log10(exact)) - 1.0, 0.0));
  return std::max(static_cast<Step>(std::ceil(exact / unit) * unit), 2 * warmup + kMeasured);
}

nlohmann::json calibrate(const Setup& setup, Contest& contest, Options& options) {
  std::vector<Contestant*> open;
  for (Contestant& one : contest.contestants)
    if (one.config.steps == 0) open.push_back(&one);
  if (open.empty()) return nullptr;
  Progress progress = setup.progress();
  nlohmann::json step_ms = nlohmann::json::object();
  double sum_s = 0.0;
  Step warmup = 0;
  for (const Contestant* one : open) {
    progress.show(fmt::format("how long a step takes: {}", one->label),
                  static_cast<double>(step_ms.size()) / static_cast<double>(open.size()));
    if (any_told_to_stop(setup.launch)) return nullptr;
    const double step_s = kNano * static_cast<double>(time_step(setup, one->config));
    step_ms[one->label] = 1e3 * step_s;
    sum_s += step_s;
    warmup = std::max(warmup, one->warmup);
  }
  const double trial_s = options.real("trial-seconds");
  // Every rank has the same times, hence the same steps.
  const Step steps = steps_for(trial_s, sum_s / static_cast<double>(open.size()), warmup);
  for (Contestant* one : open) one->config.steps = steps;
  require(bool(options.set("steps", std::to_string(steps), Source::measured)), "compare has --steps");
  return {{"trial_seconds", trial_s}, {"steps", steps}, {"step_ms", step_ms}};
}

}  // namespace steelyard::cli
