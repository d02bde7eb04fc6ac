#pragma once

/// @file
/// The trials of a comparison, and what they say.

#include <string>
#include <utility>
#include <vector>

#include "src/cli/asymmetry.hpp"
#include "src/cli/setup.hpp"
#include "src/cli/trial_runner.hpp"
#include "src/cli/verdict.hpp"

namespace steelyard::cli {

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
  std::vector<PlannedTrial> plan() const;
  void run(TrialRunner& runner);

  bool diverged() const { return diverged_; }
  std::string text(const trace::RunTables& tables) const;
  nlohmann::json json(const std::string& run, const trace::RunTables& tables) const;

 private:
  /// [contestants] as their trials recorded them.
  std::vector<Talk> talks() const;

  using Who = std::pair<std::size_t, PlannedTrial>;

  /// The trials of a round in random order, the same on every rank.
  std::vector<Who> one_round(std::vector<std::size_t> who, int round, bool confirmation) const;
  void run_round(TrialRunner& runner, Progress& progress, const std::vector<std::size_t>& who, int round,
                 bool confirmation, double trials);
  void judge_rounds();
  std::string verdict_text() const;

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

}  // namespace steelyard::cli
