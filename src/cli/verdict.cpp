#include "src/cli/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <optional>

namespace steelyard::cli {
namespace {

struct Words {
  const char *is_ahead, *is_behind, *looks_ahead, *looked_ahead, *was_ahead, *was_behind;
};

/// [measures]
constexpr Words kWords[] = {
    {"is faster than", "is slower than", "looks faster than", "looked faster than", "measured faster than",
     "measured slower than"},
    {"reaches the target sooner than", "reaches the target later than",
     "seems to reach the target sooner than", "seemed to reach the target sooner than",
     "reached the target sooner than", "reached the target later than"},
};

const Words& words(const Ratio& ratio) { return kWords[static_cast<std::size_t>(ratio.measure)]; }

std::string number(double value) {
  if (std::isnan(value)) return "-";
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

/// Those that a winner can be found by.
std::vector<std::size_t> decisive(const std::vector<Ratio>& ratios) {
  auto members = family(ratios, "ranks");
  std::erase_if(members, [&](std::size_t i) { return ratios[i].unlike; });
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
  const auto size = [](const Ratio& ratio) { return static_cast<int>(ratio.rounds.size()); };
  const int rounds = size(*std::ranges::max_element(ratios, {}, size));
  if (rounds < kLeastRounds && ratios.front().measure == Measure::time_to_target)
    return fmt::format("No verdict: some contestant reached the target in {} rounds and {} are needed.",
                       rounds, kLeastRounds);
  if (rounds < kLeastRounds)
    return fmt::format("No verdict: {} rounds were run and at least {} are needed.", rounds, kLeastRounds);
  const auto count = std::max<std::size_t>(family(ratios, "ranks").size(), 1);
  const int needed = rounds_needed(count);
  if (rounds >= needed) return std::nullopt;
  return fmt::format("No verdict: with {} ratios at least {} rounds are needed, and {} were run.", count,
                     needed, rounds);
}

std::string nothing_said(const std::vector<Ratio>& ratios) {
  std::string text = "No winner can be named";
  bool first = true;
  for (const Ratio& ratio : ratios) {
    if (ratio.basis != "ranks" || ratio.unlike) continue;
    const std::string finding = !ratio.differs                ? "cannot be told from"
                                : ratio.estimate.median > 1.0 ? words(ratio).is_ahead
                                                              : words(ratio).is_behind;
    text += fmt::format("{}{} {} {} ({})", first ? ": " : "; ", ratio.a, finding, ratio.b,
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
    return fmt::format("No winner can be named: {} {} {}, {} x, but no fresh rounds were run to confirm it.",
                       winner, words(ratio).looks_ahead, loser, interval(first));
  if (!(again.low > 1.0))
    return fmt::format(
        "No winner can be named: {} {} {}, {} x, but {} fresh rounds did not confirm it: {} x.", winner,
        words(ratio).looked_ahead, loser, interval(first), fresh.size(), interval(again));
  return fmt::format("{} {} {} {} at the same number of ranks: {} x, confirmed in {} fresh rounds: {} x.",
                     place, winner, words(ratio).is_ahead, loser, interval(first), fresh.size(),
                     interval(again));
}

/// "at the same number of workers", "per node".
std::string basis_said(const std::string& basis) {
  if (basis == "nodes") return "per node";
  return basis == "price" ? "for the same price" : "at the same number of " + basis;
}

std::string basis_family_said(const std::vector<Ratio>& ratios, const std::string& basis) {
  std::string text;
  for (const std::size_t i : family(ratios, basis)) {
    const Ratio& r = ratios[i];
    if (r.unlike) continue;
    const std::string finding = !r.differs                ? "cannot be told from"
                                : r.estimate.median > 1.0 ? words(r).was_ahead
                                                          : words(r).was_behind;
    std::string head = " " + basis_said(basis) + ": ";
    head[1] = static_cast<char>(std::toupper(static_cast<unsigned char>(head[1])));
    text +=
        fmt::format("{}{} {} {}, {} x", text.empty() ? head : "; ", r.a, finding, r.b, interval(r.estimate));
  }
  return text.empty() ? text : text + ".";
}

/// Of the ratios that nothing confirms.
std::string other_bases_said(const std::vector<Ratio>& ratios) {
  std::string text;
  for (const char* basis : {"workers", "nodes", "price"}) text += basis_family_said(ratios, basis);
  return text;
}

/// Why images/s do not decide between some contestants, with what they were.
std::string unlike_said(const std::vector<Ratio>& ratios) {
  std::string list;
  std::vector<std::string> differences;
  for (const Ratio& r : ratios) {
    if (!r.unlike) continue;
    list += fmt::format("{}{} / {} {} x {}", list.empty() ? "" : "; ", r.a, r.b, interval(r.estimate),
                        basis_said(r.basis));
    if (std::ranges::find(differences, r.difference) == differences.end())
      differences.push_back(r.difference);
  }
  return list.empty()
             ? list
             : fmt::format(
                   "images/s alone cannot decide between contestants that differ in {}, since a step "
                   "of one is not worth a step of the other: {}; --target-accuracy, with a model that "
                   "is trained, compares the times to a test accuracy.",
                   fmt::join(differences, ", or in "), list);
}

std::string one_sided_said(const std::vector<Ratio>& ratios) {
  for (const Ratio& r : ratios)
    for (const double one : r.rounds)
      if (r.measure == Measure::time_to_target && (std::isinf(one) || one == 0.0))
        return " A ratio is inf or 0 in rounds in which only one of the two reached the target.";
  return "";
}

std::string decision_said(const std::vector<Ratio>& ratios, const Candidate& found,
                          const std::vector<double>& confirmation, const Validity& validity) {
  std::string unlike = unlike_said(ratios);
  if (decisive(ratios).empty() && !unlike.empty()) return "No verdict: " + unlike;
  if (!unlike.empty()) unlike = " But " + unlike;
  return (found.found ? winner_said(ratios[found.ratio], found.a_wins, confirmation, validity.place())
                      : nothing_said(ratios)) +
         other_bases_said(ratios) + unlike + one_sided_said(ratios);
}

}  // namespace

int rounds_for(std::size_t ratios) {
  const double alpha = kAlpha / static_cast<double>(std::max<std::size_t>(ratios, 1));
  int rounds = kLeastRounds;
  while (std::ldexp(2.0 * (1.0 + rounds), -rounds) > alpha) ++rounds;
  return rounds;
}

void judge(std::vector<Ratio>& ratios) {
  for (const char* basis : {"ranks", "workers", "nodes", "price"})
    judge_family(ratios, family(ratios, basis));
}

void judge_family(std::vector<Ratio>& ratios) {
  std::vector<std::size_t> all(ratios.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  judge_family(ratios, all);
}

Candidate candidate(const std::vector<Ratio>& ratios) {
  if (too_few(ratios)) return {};
  const auto members = decisive(ratios);
  if (members.empty()) return {};
  const auto by_median = [&](std::size_t i, std::size_t j) {
    // A ratio without rounds has no median.
    if (ratios[i].rounds.empty() || ratios[j].rounds.empty()) return !ratios[j].rounds.empty();
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

int rounds_needed(std::size_t ratios) {
  return trace::samples_needed(kAlpha / static_cast<double>(std::max<std::size_t>(ratios, 1)));
}

std::string verdict(const std::vector<Ratio>& ratios, const Candidate& found,
                    const std::vector<double>& confirmation, const Validity& validity) {
  const auto reason = too_few(ratios);
  const std::string text = reason ? *reason : decision_said(ratios, found, confirmation, validity);
  const std::string limits = validity.limits();
  return limits.empty() ? text : text + " " + limits;
}

}  // namespace steelyard::cli
