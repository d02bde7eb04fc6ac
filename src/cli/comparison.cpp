#include "src/cli/comparison.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "src/base/random.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

/// Seconds, infinite where the target was not reached.
double time_of(const Figures& figures) {
  return std::isnan(figures.time_to_target_s) ? std::numeric_limits<double>::infinity()
                                              : figures.time_to_target_s;
}

}  // namespace

std::vector<double> paired(const std::vector<std::vector<Figures>>& figures, const Ratio& ratio) {
  const auto& a = figures[ratio.contestant_a];
  const auto& b = figures[ratio.contestant_b];
  std::vector<double> rounds;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double one = ratio.measure == Measure::speed ? a[i].images_per_s / b[i].images_per_s
                                                       : time_of(b[i]) / time_of(a[i]);
    if (!std::isnan(one))
      rounds.push_back(one * ratio.scale);  // Infinite by infinite: neither reached the target.
  }
  return rounds;
}

std::vector<PlannedTrial> Comparison::plan() const {
  std::vector<PlannedTrial> trials;
  std::vector<std::size_t> everyone(contest_.contestants.size());
  std::iota(everyone.begin(), everyone.end(), std::size_t{0});
  for (int round = 0; round < rounds_; ++round)
    for (const auto& [who, trial] : one_round(everyone, round, false)) trials.push_back(trial);
  return trials;
}

void Comparison::run(TrialRunner& runner) {
  Progress progress = setup_.progress();
  std::vector<std::size_t> everyone(contest_.contestants.size());
  std::iota(everyone.begin(), everyone.end(), std::size_t{0});
  const double trials = static_cast<double>(everyone.size()) * rounds_ + 2.0 * confirm_rounds_;
  for (int round = 0; round < rounds_; ++round) run_round(runner, progress, everyone, round, false, trials);
  judge_rounds();
  if (candidate_.found && !stopped_) confirm(runner, progress, trials);
}

void Comparison::confirm(TrialRunner& runner, Progress& progress, double trials) {
  const Ratio ratio = decisive_ratios(contest_)[candidate_.ratio];
  const auto present = [&] { return !gone_[ratio.contestant_a] && !gone_[ratio.contestant_b]; };
  for (int round = 0; round < confirm_rounds_ && present() && !stopped_; ++round)
    run_round(runner, progress, {ratio.contestant_a, ratio.contestant_b}, round, true, trials);
  if (present()) {
    confirmation_ = paired(fresh_, ratio);
    return;
  }
  judge_rounds();
  candidate_ = {};  // It would have to be confirmed.
}

std::vector<Comparison::Who> Comparison::one_round(std::vector<std::size_t> who, int round,
                                                   bool confirmation) const {
  constexpr std::uint64_t kOrderStream = 1ULL << 50U;
  shuffle(std::span(who), seed_,
          kOrderStream + static_cast<std::uint64_t>(round) * 2 + (confirmation ? 1 : 0));
  std::vector<Who> trials;
  for (std::size_t i = 0; i < who.size(); ++i) {
    const Contestant& c = contest_.contestants[who[i]];
    trials.push_back({who[i], {c.config, c.label, c.warmup, round, static_cast<int>(i), confirmation}});
    if (contest_.target_accuracy > 0.0)
      trials.back().second.config.seed += static_cast<std::uint64_t>(confirmation ? rounds_ + round : round);
  }
  return trials;
}

void Comparison::run_round(TrialRunner& runner, Progress& progress, const std::vector<std::size_t>& who,
                           int round, bool confirmation, double trials) {
  for (const Who& one : one_round(who, round, confirmation)) {
    stopped_ = stopped_ || any_told_to_stop(setup_.launch);
    if (stopped_) return;
    ++run_;
    if (gone_[one.first])
      runner.skip();
    else
      run_trial(runner, progress, one, trials);
  }
}

void Comparison::run_trial(TrialRunner& runner, Progress& progress, const Who& who, double trials) {
  const auto& [contestant, trial] = who;
  TrialResult result = runner.run(trial, progress, static_cast<double>(run_ - 1) / trials, 1.0 / trials);
  if (mpi::greatest(setup_.launch.world, result.summary.diverged ? 1 : 0) != 0) gone_[contestant] = true;
  stopped_ = result.stopped;
  const trace::TrialSummary& s = result.summary;
  Figures figures{s.images_per_s, s.accuracy, s.target.time_s};
  mpi::broadcast(setup_.launch.world, std::as_writable_bytes(std::span(&figures, 1)), 0);
  if (!stopped_) (trial.confirmation ? fresh_ : results_)[contestant].push_back(figures);
  if (setup_.launch.speaks()) all_.push_back(std::move(result));
}

void Comparison::judge_rounds() {
  leave_out(contest_, gone_);
  for (auto* const ratios : {&contest_.ratios, &contest_.target_ratios}) {
    for (Ratio& ratio : *ratios) ratio.rounds = paired(results_, ratio);
    judge(*ratios);
  }
  candidate_ = candidate(decisive_ratios(contest_));
}

std::string Comparison::departures_text() const {
  std::string text;
  for (const TrialResult& one : all_)
    if (one.summary.diverged)
      text += fmt::format("{} diverged in {}round {}, {}, and left the comparison. ",
                          trace::view(one.data.row.label), one.data.row.confirmation != 0 ? "fresh " : "",
                          one.data.row.repeat, divergence_text(one.summary));
  return text;
}

std::string Comparison::verdict_text() const {
  if (stopped_) {
    const auto whole = std::ranges::count_if(all_, [](const TrialResult& one) { return !one.stopped; });
    return departures_text() +
           fmt::format("No verdict: a signal stopped the comparison after {} whole trial{}.", whole,
                       whole == 1 ? "" : "s");
  }
  const auto& ratios = decisive_ratios(contest_);
  if (diverged() && ratios.empty())
    return departures_text() + "No verdict: no two contestants are left that could be compared.";
  return departures_text() + verdict(ratios, candidate_, confirmation_, setup_.launch.validity);
}

}  // namespace steelyard::cli
