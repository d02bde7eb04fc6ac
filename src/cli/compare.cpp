#include <fmt/format.h>

#include <numeric>

#include "src/base/random.hpp"
#include "src/cli/asymmetry.hpp"
#include "src/cli/calibration.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/contest.hpp"
#include "src/cli/lab.hpp"
#include "src/cli/report.hpp"
#include "src/cli/setup.hpp"
#include "src/cli/trial_runner.hpp"

namespace steelyard::cli {
namespace {

/// The rounds of one comparison. Collective: every rank takes the same decisions from the same figures.
class Comparison {
 public:
  Comparison(const Setup& setup, Contest contest, int rounds, int confirm_rounds, std::uint64_t seed)
      : setup_(setup),
        contest_(std::move(contest)),
        rounds_(rounds),
        confirm_rounds_(confirm_rounds),
        seed_(seed),
        results_(contest_.contestants.size()),
        fresh_(contest_.contestants.size()) {}

  /// Rounds that are certain to be run, in order.
  std::vector<PlannedTrial> plan() const {
    std::vector<PlannedTrial> trials;
    std::vector<std::size_t> everyone(contest_.contestants.size());
    std::iota(everyone.begin(), everyone.end(), std::size_t{0});
    for (int round = 0; round < rounds_; ++round)
      for (const auto& [who, trial] : one_round(everyone, round, false)) trials.push_back(trial);
    return trials;
  }

  void run(TrialRunner& runner) {
    Progress progress = setup_.progress();
    std::vector<std::size_t> everyone(contest_.contestants.size());
    std::iota(everyone.begin(), everyone.end(), std::size_t{0});
    const double trials = static_cast<double>(everyone.size()) * rounds_ + 2.0 * confirm_rounds_;
    for (int round = 0; round < rounds_; ++round) run_round(runner, progress, everyone, round, false, trials);
    judge_rounds();
    if (!candidate_.found) return;
    const Ratio& ratio = contest_.ratios[candidate_.ratio];
    for (int round = 0; round < confirm_rounds_; ++round)
      run_round(runner, progress, {ratio.contestant_a, ratio.contestant_b}, round, true, trials);
    confirmation_ = paired(fresh_, ratio);
  }

  bool diverged() const { return diverged_; }
  std::string text(const trace::RunTables& tables) const;
  nlohmann::json json(const std::string& run, const trace::RunTables& tables) const;

 private:
  /// [contestants] as their trials recorded them.
  std::vector<Talk> talks() const;

  using Who = std::pair<std::size_t, PlannedTrial>;

  /// The trials of a round in random order, the same on every rank.
  std::vector<Who> one_round(std::vector<std::size_t> who, int round, bool confirmation) const {
    constexpr std::uint64_t kOrderStream = 1ULL << 50U;
    shuffle(std::span(who), seed_,
            kOrderStream + static_cast<std::uint64_t>(round) * 2 + (confirmation ? 1 : 0));
    std::vector<Who> trials;
    for (std::size_t i = 0; i < who.size(); ++i) {
      const Contestant& c = contest_.contestants[who[i]];
      trials.push_back({who[i], {c.config, c.label, c.warmup, round, static_cast<int>(i), confirmation}});
    }
    return trials;
  }

  void run_round(TrialRunner& runner, Progress& progress, const std::vector<std::size_t>& who, int round,
                 bool confirmation, double trials) {
    for (const auto& [contestant, trial] : one_round(who, round, confirmation)) {
      TrialResult result = runner.run(trial, progress, static_cast<double>(run_) / trials, 1.0 / trials);
      ++run_;
      const bool bad = mpi::greatest(setup_.launch.world, result.summary.diverged ? 1 : 0) != 0;
      diverged_ = diverged_ || bad;
      // Every rank needs the speed, to decide alike; nanoseconds would lose nothing either way.
      double speed = result.summary.images_per_s;
      mpi::broadcast(setup_.launch.world, std::as_writable_bytes(std::span(&speed, 1)), 0);
      (confirmation ? fresh_ : results_)[contestant].push_back(speed);
      if (setup_.launch.speaks()) all_.push_back(std::move(result));
    }
  }

  static std::vector<double> paired(const std::vector<std::vector<double>>& speeds, const Ratio& ratio) {
    std::vector<double> rounds;
    for (std::size_t i = 0; i < speeds[ratio.contestant_a].size(); ++i)
      rounds.push_back(speeds[ratio.contestant_a][i] / speeds[ratio.contestant_b][i]);
    return rounds;
  }

  void judge_rounds() {
    for (Ratio& ratio : contest_.ratios) ratio.rounds = paired(results_, ratio);
    judge(contest_.ratios);
    // The speed of a training that went wrong proves nothing.
    candidate_ = diverged_ ? Candidate{} : candidate(contest_.ratios);
  }

  std::string verdict_text() const {
    if (diverged_)
      return "No verdict: in some trial the loss was no finite number; its speed proves nothing.";
    return verdict(contest_.ratios, candidate_, confirmation_, setup_.launch.validity);
  }

  const Setup& setup_;
  Contest contest_;
  int rounds_;
  int confirm_rounds_;
  std::uint64_t seed_;
  std::vector<std::vector<double>> results_;  ///< [contestants, rounds] images/s
  std::vector<std::vector<double>> fresh_;    ///< The same of the confirming rounds.
  std::vector<double> confirmation_;
  Candidate candidate_;
  std::vector<TrialResult> all_;
  std::size_t run_ = 0;
  bool diverged_ = false;
};

/// "9.5 to 10.2"; a dash where there are too few rounds for an interval.
std::string range(const trace::Estimate& e, const std::string& low, const std::string& high) {
  return std::isfinite(e.low) && std::isfinite(e.high) ? low + " to " + high : "-";
}
std::string speed_range(const trace::Estimate& e) {
  return range(e, number_text(e.low), number_text(e.high));
}
std::string ratio_range(const trace::Estimate& e) {
  return range(e, fmt::format("{:.3f}", e.low), fmt::format("{:.3f}", e.high));
}

/// Medians over a contestant's rounds of what only tables show.
struct RoundMedians {
  double step_ms, wait_share, server_bytes, core_busy;
};
RoundMedians medians(const std::vector<TrialResult>& all, const std::string& label) {
  std::vector<double> step;
  std::vector<double> wait;
  std::vector<double> bytes;
  std::vector<double> busy;
  for (const TrialResult& one : all) {
    if (trace::view(one.data.row.label) != label || one.data.row.confirmation != 0) continue;
    step.push_back(one.summary.step_ms.median);
    const trace::PhaseTimes& p = one.summary.phases_ms;
    const double all_phases = p.data + p.forward + p.backward + p.push + p.wait + p.update;
    wait.push_back(100.0 * p.wait / std::max(all_phases, 1e-9));
    bytes.push_back(one.summary.server_bytes.max_over_mean);
    busy.push_back(100.0 * one.data.final.core_busy);
  }
  return {trace::median(step), trace::median(wait), trace::median(bytes), trace::median(busy)};
}

std::vector<Talk> Comparison::talks() const {
  std::vector<Talk> all(contest_.contestants.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const TrialResult& one : all_)
      if (trace::view(one.data.row.label) == contest_.contestants[i].label)
        all[i] = {std::string(trace::view(one.data.row.transport)),
                  std::string(trace::view(one.data.row.aggregate))};
  return all;
}

std::string Comparison::text(const trace::RunTables& tables) const {
  const TrialConfig& first = contest_.contestants.front().config;
  std::string out = line_text("model", fmt::format("{}, global batch {}, {} steps a trial", tables.model,
                                                   first.global_batch, first.steps));
  out += line_text("data", tables.data) + validity_text(setup_.launch);
  out += line_text("rounds", fmt::format("{} of {} contestants in random order, {} to confirm", rounds_,
                                         contest_.contestants.size(), confirmation_.size()));
  for (const Contestant& c : contest_.contestants)
    if (!c.specification.empty()) out += line_text(c.label.substr(0, 1), c.specification);
  for (const std::string& one : asymmetries(contest_, talks(), setup_.launch.topology))
    out += line_text("unalike", one);
  out += "\n";
  Table table({"contestant", "images/s", "95 % interval", "step ms", "wait %", "max/mean", "cores %"});
  for (std::size_t i = 0; i < contest_.contestants.size(); ++i) {
    const Contestant& c = contest_.contestants[i];
    const bool ps = c.config.mode == "ps";
    const trace::Estimate speed = trace::estimate_median(results_[i], 1.0 - kAlpha);
    const RoundMedians m = medians(all_, c.label);
    table.add({c.label, number_text(speed.median), speed_range(speed), number_text(m.step_ms),
               fmt::format("{:.0f}", m.wait_share), ps ? fmt::format("{:.2f}", m.server_bytes) : "-",
               fmt::format("{:.0f}", m.core_busy)});
  }
  out += table.text() + "\n";
  Table ratios({"images/s against", "at equal", "ratio", "interval", "confidence %", "differs"});
  for (const Ratio& r : contest_.ratios)
    ratios.add({r.a + " / " + r.b, r.basis, fmt::format("{:.3f}", r.estimate.median), ratio_range(r.estimate),
                fmt::format("{:.2f}", 100.0 * r.confidence), r.differs ? "yes" : "no"});
  return out + ratios.text() + "\n" + wrapped(verdict_text(), 98) + "\n";
}

nlohmann::json Comparison::json(const std::string& run, const trace::RunTables& tables) const {
  nlohmann::json out;
  out["run"] = run;
  out["validity"] = setup_.launch.validity.text();
  out["lab"] = setup_.launch.lab;
  out["asymmetries"] = asymmetries(contest_, talks(), setup_.launch.topology);
  for (const TrialResult& one : all_) {
    auto trial = trial_json(run, tables, one.data, one.summary);
    trial["collective_choices"] = one.collective_choices;
    trial["bucket_rebuilds"] = one.bucket_rebuilds;
    trial["repeat"] = one.data.row.repeat;
    trial["order"] = one.data.row.order;
    trial["confirmation"] = one.data.row.confirmation != 0;
    out["trials"].push_back(std::move(trial));
  }
  out["ratios"] = nlohmann::json::array();
  const auto finite = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(nullptr); };
  for (const Ratio& r : contest_.ratios)
    out["ratios"].push_back({{"a", r.a},
                             {"b", r.b},
                             {"median", r.estimate.median},
                             {"low", finite(r.estimate.low)},
                             {"high", finite(r.estimate.high)},
                             {"basis", r.basis},
                             {"confidence", r.confidence},
                             {"differs", r.differs}});
  out["rounds"] = rounds_;
  out["confirmation"] = confirmation_;
  const bool won = !diverged_ && has_winner(contest_.ratios, candidate_, confirmation_);
  out["winner"] = nullptr;
  if (won) {
    const Ratio& r = contest_.ratios[candidate_.ratio];
    out["winner"] = candidate_.a_wins ? r.a : r.b;
  }
  out["verdict"] = verdict_text();
  return out;
}

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
  const int servers = contest.value().contestants.back().config.servers;
  Comparison comparison(*setup, std::move(contest).value(), rounds, confirm_rounds,
                        static_cast<std::uint64_t>(options.integer("seed")));
  const auto runner = TrialRunner::begin(
      launch, setup->settings, effective, setup->dataset, comparison.plan(), std::move(manifest),
      make_run_id("compare", setup->settings.model.name, servers, launch.world.size() - servers));
  if (!runner) return kUsage;
  comparison.run(*runner);
  int status = comparison.diverged() ? kCheckFailed : kDone;
  runner->finish(status);
  if (const int reported = report(*setup, comparison, *runner); reported != kDone) status = reported;
  return static_cast<int>(mpi::greatest(launch.world, status));
}

}  // namespace steelyard::cli
