#include "src/cli/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace steelyard::cli {
namespace {

std::string number(double value) {
  if (std::isinf(value)) return value < 0 ? "0" : "inf";
  return fmt::format("{:.3f}", value);
}

std::string interval(const trace::Estimate& e) {
  return fmt::format("{} [{}, {}]", number(e.median), number(e.low), number(e.high));
}

std::vector<std::size_t> family(const std::vector<Ratio>& ratios, const std::string& basis) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (ratios[i].basis == basis) members.push_back(i);
  return members;
}

void judge_family(std::vector<Ratio>& ratios, const std::vector<std::size_t>& members) {
  std::vector<double> p_values;
  for (const std::size_t i : members) p_values.push_back(trace::sign_test(ratios[i].rounds, 1.0));
  const auto levels = trace::holm_levels(p_values, kAlpha);
  const auto rejected = trace::holm_rejects(p_values, kAlpha);
  for (std::size_t k = 0; k < members.size(); ++k) {
    Ratio& ratio = ratios[members[k]];
    ratio.confidence = 1.0 - levels[k];
    ratio.estimate = trace::estimate_median(ratio.rounds, ratio.confidence);
    ratio.differs = rejected[k] && ratio.rounds.size() >= kLeastRounds;
  }
}

/// Why the rounds cannot carry a verdict, if so.
std::optional<std::string> too_few(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return "No verdict: there is only one contestant.";
  const auto rounds = static_cast<int>(ratios.front().rounds.size());
  if (rounds < kLeastRounds)
    return fmt::format("No verdict: {} rounds were run and at least {} are needed.", rounds, kLeastRounds);
  const auto count = family(ratios, ratios.front().basis).size();
  const int needed = trace::samples_needed(kAlpha / static_cast<double>(count));
  if (rounds >= needed) return std::nullopt;
  return fmt::format("No verdict: with {} ratios at least {} rounds are needed, and {} were run.", count,
                     needed, rounds);
}

std::string nothing_said(const std::vector<Ratio>& ratios) {
  std::string text = "No winner can be named: ";
  bool first = true;
  for (const Ratio& ratio : ratios) {
    if (ratio.basis != ratios.front().basis) continue;
    const std::string finding = !ratio.differs                ? "cannot be told from"
                                : ratio.estimate.median > 1.0 ? "is faster than"
                                                              : "is slower than";
    text += fmt::format("{}{} {} {} ({})", first ? "" : "; ", ratio.a, finding, ratio.b,
                        interval(ratio.estimate));
    first = false;
  }
  return text + ".";
}

std::string winner_said(const Ratio& ratio, bool a_wins, const std::vector<double>& confirmation,
                        const std::string& place) {
  std::vector<double> fresh = confirmation;
  trace::Estimate first = ratio.estimate;
  if (!a_wins) {
    for (double& one : fresh) one = 1.0 / one;
    first = {1.0 / first.median, 1.0 / first.high, 1.0 / first.low};
  }
  const trace::Estimate again = trace::estimate_median(fresh, 1.0 - kAlpha);
  const std::string& winner = a_wins ? ratio.a : ratio.b;
  const std::string& loser = a_wins ? ratio.b : ratio.a;
  if (fresh.empty())
    return fmt::format(
        "No winner can be named: {} looks faster than {}, {} x, but no fresh rounds were run to confirm it.",
        winner, loser, interval(first));
  if (!(again.low > 1.0))
    return fmt::format(
        "No winner can be named: {} looked faster than {}, {} x, but {} fresh rounds did not confirm it: {} "
        "x.",
        winner, loser, interval(first), fresh.size(), interval(again));
  return fmt::format(
      "{} {} is faster than {} at the same number of ranks: {} x, confirmed in {} fresh rounds: {} x.", place,
      winner, loser, interval(first), fresh.size(), interval(again));
}

std::string equal_workers_said(const std::vector<Ratio>& ratios) {
  std::string text;
  for (const std::size_t i : family(ratios, "workers")) {
    const Ratio& r = ratios[i];
    const std::string finding = !r.differs                ? "cannot be told from"
                                : r.estimate.median > 1.0 ? "measured faster than"
                                                          : "measured slower than";
    text += fmt::format("{}{} {} {}, {} x", text.empty() ? " At the same number of workers: " : "; ", r.a,
                        finding, r.b, interval(r.estimate));
  }
  return text.empty() ? text : text + ".";
}

}  // namespace

int rounds_for(std::size_t ratios) {
  const double alpha = kAlpha / static_cast<double>(std::max<std::size_t>(ratios, 1));
  int rounds = kLeastRounds;
  while (std::ldexp(2.0 * (1.0 + rounds), -rounds) > alpha) ++rounds;
  return rounds;
}

void judge(std::vector<Ratio>& ratios) {
  for (const char* basis : {"ranks", "workers"}) judge_family(ratios, family(ratios, basis));
}

Candidate candidate(const std::vector<Ratio>& ratios) {
  if (too_few(ratios)) return {};
  const auto members = family(ratios, "ranks");
  const auto by_median = [&](std::size_t i, std::size_t j) {
    return ratios[i].estimate.median < ratios[j].estimate.median;
  };
  const auto best = *std::ranges::max_element(members, by_median);
  if (ratios[best].differs && ratios[best].estimate.median > 1.0) return {true, true, best};
  const bool all_below = std::ranges::all_of(
      members, [&](std::size_t i) { return ratios[i].differs && ratios[i].estimate.median < 1.0; });
  return {all_below, false, best};
}

bool has_winner(const std::vector<Ratio>& ratios, const Candidate& found,
                const std::vector<double>& confirmation) {
  if (too_few(ratios) || !found.found) return false;
  std::vector<double> fresh = confirmation;
  if (!found.a_wins)
    for (double& one : fresh) one = 1.0 / one;
  return trace::estimate_median(fresh, 1.0 - kAlpha).low > 1.0;
}

std::string verdict(const std::vector<Ratio>& ratios, const Candidate& found,
                    const std::vector<double>& confirmation, const Validity& validity) {
  std::string text;
  if (const auto reason = too_few(ratios))
    text = *reason;
  else
    text = (found.found ? winner_said(ratios[found.ratio], found.a_wins, confirmation, validity.place())
                        : nothing_said(ratios)) +
           equal_workers_said(ratios);
  const std::string limits = validity.limits();
  return limits.empty() ? text : text + " " + limits;
}

}  // namespace steelyard::cli
