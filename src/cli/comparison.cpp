#include "src/cli/comparison.hpp"

#include <numeric>

#include "src/base/random.hpp"

namespace steelyard::cli {
namespace {

std::vector<double> paired(const std::vector<std::vector<double>>& speeds, const Ratio& ratio) {
  std::vector<double> rounds;
  for (std::size_t i = 0; i < speeds[ratio.contestant_a].size(); ++i)
    rounds.push_back(speeds[ratio.contestant_a][i] / speeds[ratio.contestant_b][i]);
  return rounds;
}

}  // namespace

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
  if (!candidate_.found) return;
  const Ratio& ratio = contest_.ratios[candidate_.ratio];
  for (int round = 0; round < confirm_rounds_; ++round)
    run_round(runner, progress, {ratio.contestant_a, ratio.contestant_b}, round, true, trials);
  confirmation_ = paired(fresh_, ratio);
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
  }
  return trials;
}

void Comparison::run_round(TrialRunner& runner, Progress& progress, const std::vector<std::size_t>& who,
                           int round, bool confirmation, double trials) {
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

void Comparison::judge_rounds() {
  for (Ratio& ratio : contest_.ratios) ratio.rounds = paired(results_, ratio);
  judge(contest_.ratios);
  // The speed of a training that went wrong proves nothing.
  candidate_ = diverged_ ? Candidate{} : candidate(contest_.ratios);
}

std::string Comparison::verdict_text() const {
  if (diverged_) return "No verdict: in some trial the loss was no finite number; its speed proves nothing.";
  return verdict(contest_.ratios, candidate_, confirmation_, setup_.launch.validity);
}

}  // namespace steelyard::cli
