#pragma once

/// @file
/// The trials of a comparison, and what they say.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/cli/asymmetry.hpp"
#include "src/cli/setup.hpp"
#include "src/cli/trial_runner.hpp"
#include "src/cli/verdict.hpp"

namespace steelyard::cli {

/// What every rank has to know of a trial. NaN where it has none.
struct Figures {
  double images_per_s = 0.0;
  double accuracy = 0.0;
  double time_to_target_s = 0.0;
};

/// Images/s or times to the target of a ratio's contestants in the rounds of both, as a / b or b / a, times
/// the ratio's scale.
/// @param figures [contestants, rounds]
std::vector<double> paired(const std::vector<std::vector<Figures>>& figures, const Ratio& ratio);

/// The rounds of one comparison. Collective: every rank takes the same decisions from the same figures.
///
/// A signal ends it: the trial under way counts for nothing, the others are not run, and there is no verdict.
/// A contestant whose training diverged takes part no more after that round, and no ratio is of it. With a
/// target, round r trains with seed + r for every contestant, and fresh rounds go on from there.
class Comparison {
 public:
  Comparison(const Setup& setup, Contest contest, int rounds, int confirm_rounds, std::uint64_t seed)
      : setup_(setup),
        contest_(std::move(contest)),
        rounds_(rounds),
        confirm_rounds_(confirm_rounds),
        seed_(seed),
        results_(contest_.contestants.size()),
        fresh_(contest_.contestants.size()),
        gone_(contest_.contestants.size()) {}

  /// Rounds that are certain to be run, in order.
  std::vector<PlannedTrial> plan() const;
  void run(TrialRunner& runner);

  /// By a signal, before all its trials were run.
  bool stopped() const { return stopped_; }
  bool diverged() const { return std::ranges::count(gone_, true) > 0; }
  std::string text(const trace::RunTables& tables) const;
  /// What json() has, but for the trials, the run and the lab: what no other file of the run directory says.
  nlohmann::json outcome_json() const;
  nlohmann::json json(const std::string& run, const trace::RunTables& tables) const;

 private:
  /// [contestants] as their trials recorded them.
  std::vector<Talk> talks() const;

  using Who = std::pair<std::size_t, PlannedTrial>;

  /// The trials of a round in random order, the same on every rank.
  std::vector<Who> one_round(std::vector<std::size_t> who, int round, bool confirmation) const;
  void run_round(TrialRunner& runner, Progress& progress, const std::vector<std::size_t>& who, int round,
                 bool confirmation, double trials);
  void confirm(TrialRunner& runner, Progress& progress, double trials);
  void judge_rounds();
  /// Collective: runs one trial and keeps what came of it.
  void run_trial(TrialRunner& runner, Progress& progress, const Who& who, double trials);
  /// One sentence for every contestant that is gone; on rank 0.
  std::string departures_text() const;
  std::string verdict_text() const;
  std::string speed_table() const;
  /// Speed by nodes and by price; "" where there is one node and no price.
  std::string rate_table() const;
  std::string outcome_table() const;
  std::string ratio_tables() const;
  nlohmann::json contestants_json() const;

  const Setup& setup_;
  Contest contest_;
  int rounds_;
  int confirm_rounds_;
  std::uint64_t seed_;
  std::vector<std::vector<Figures>> results_;  ///< [contestants, rounds]
  std::vector<std::vector<Figures>> fresh_;    ///< The same of the confirming rounds.
  std::vector<bool> gone_;                     ///< [contestants] diverged.
  std::vector<double> confirmation_;
  Candidate candidate_;
  std::vector<TrialResult> all_;
  std::size_t run_ = 0;
  bool stopped_ = false;
};

}  // namespace steelyard::cli
