#pragma once

/// @file
/// What a comparison may claim. Pure functions of the measured rounds; nothing here runs anything.

#include <cstdint>
#include <string>
#include <vector>

#include "src/cli/validity.hpp"
#include "src/trace/statistics.hpp"

namespace steelyard::cli {

inline constexpr double kAlpha = 0.05;
inline constexpr int kLeastRounds = 6;
/// The fewest rounds that can tell each of `ratios` ratios in one family from 1 (Holm's first level, sign
/// test).
int rounds_needed(std::size_t ratios);

/// What two contestants are compared by. In either a ratio above 1 says that a is ahead.
enum class Measure : std::uint8_t {
  speed,           ///< images/s of a / those of b
  time_to_target,  ///< time to the target accuracy of b / that of a
};

/// One contestant against another, round by round.
struct Ratio {
  std::string a;
  std::string b;
  /// What the two have in common, "ranks" or "workers"; or what their images/s are divided by, "nodes" or
  /// "price".
  std::string basis;
  std::size_t contestant_a = 0;
  std::size_t contestant_b = 0;
  /// Within each round. Of times: infinite where only a reached the target, 0 where only b did; rounds in
  /// which neither did are left out.
  std::vector<double> rounds;
  trace::Estimate estimate;  ///< Interval at the level that Holm's procedure gives this ratio in its family.
  double confidence = 0.95;  ///< Of that interval.
  bool differs = false;      ///< Holm's procedure rejects "the median is 1".
  Measure measure = Measure::speed;
  /// A step of one is not worth a step of the other, so that images/s decide nothing.
  bool unlike = false;
  std::string difference{};  ///< Why, as unlike_in has it; "" where it is.
  double scale = 1.0;  ///< Of every round: nodes or price of b over those of a, where that is the basis.
};

/// Rounds that a family of `ratios` needs, so that even the least of Holm's levels can be met with one
/// outlier.
int rounds_for(std::size_t ratios);

/// Fills estimate, confidence and differs; each basis is a family of its own.
void judge(std::vector<Ratio>& ratios);
/// The same for ratios that are one family, whatever their bases.
void judge_family(std::vector<Ratio>& ratios);

/// The contestants that fresh rounds have to confirm.
struct Candidate {
  bool found = false;
  bool a_wins = false;  ///< Ratio `ratio`'s a against its b.
  std::size_t ratio = 0;
};
/// On equal ranks, without those that are unlike: the ratio most above 1 if any contestant beats the common
/// opponent b; else, if b beats every one, the one nearest to 1. Otherwise nothing can be claimed.
Candidate candidate(const std::vector<Ratio>& ratios);

/// In words, with the numbers. @param confirmation a / b in the fresh rounds, empty where there were none.
/// @param validity gives the first words and the last sentence.
std::string verdict(const std::vector<Ratio>& ratios, const Candidate& candidate,
                    const std::vector<double>& confirmation, const Validity& validity);
/// Whether that verdict names a winner.
bool has_winner(const std::vector<Ratio>& ratios, const Candidate& candidate,
                const std::vector<double>& confirmation);

}  // namespace steelyard::cli
