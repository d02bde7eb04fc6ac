#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/cli/comparison.hpp"
#include "src/cli/lab.hpp"
#include "src/cli/rating.hpp"
#include "src/cli/report.hpp"
#include "src/cli/staleness_report.hpp"

namespace steelyard::cli {
namespace {

/// "9.5 to 10.2"; a dash where there are too few rounds for an interval.
std::string range(const trace::Estimate& e, const std::string& low, const std::string& high) {
  return std::isfinite(e.low) && std::isfinite(e.high) ? low + " to " + high : "-";
}
std::string number_range(const trace::Estimate& e) {
  return range(e, number_text(e.low), number_text(e.high));
}
/// Of times, of which those of trials that did not reach the target are infinite.
std::string time_range(const trace::Estimate& e) {
  const bool open = std::isfinite(e.low) && !std::isfinite(e.high);
  return open ? "over " + number_text(e.low) : number_range(e);
}
std::string ratio_range(const trace::Estimate& e) {
  return range(e, fmt::format("{:.3f}", e.low), fmt::format("{:.3f}", e.high));
}

/// What a contestant's trainings came to, over its rounds.
struct Outcome {
  trace::Estimate accuracy;
  trace::Estimate time_s;  ///< To the target; infinite where it was not reached.
  std::size_t evaluated = 0, reached = 0, rounds = 0;
};
Outcome outcome(const std::vector<Figures>& rounds) {
  std::vector<double> accuracies;
  std::vector<double> times;
  Outcome out;
  out.rounds = rounds.size();
  for (const Figures& one : rounds) {
    if (!std::isnan(one.accuracy)) accuracies.push_back(one.accuracy);
    const bool reached = !std::isnan(one.time_to_target_s);
    times.push_back(reached ? one.time_to_target_s : std::numeric_limits<double>::infinity());
    out.reached += reached ? 1 : 0;
  }
  out.evaluated = accuracies.size();
  out.accuracy = trace::estimate_median(accuracies, 1.0 - kAlpha);
  out.time_s = trace::estimate_median(times, 1.0 - kAlpha);
  return out;
}

trace::Estimate speed_of(const std::vector<Figures>& rounds) {
  std::vector<double> speeds;
  for (const Figures& one : rounds) speeds.push_back(one.images_per_s);
  return trace::estimate_median(speeds, 1.0 - kAlpha);
}

std::string ratio_table(const std::vector<Ratio>& all, const std::string& head) {
  Table table({head, "at equal", "ratio", "interval", "confidence %", "differs"});
  for (const Ratio& r : all)
    table.add({r.a + " / " + r.b, r.basis, r.rounds.empty() ? "-" : fmt::format("{:.3f}", r.estimate.median),
               ratio_range(r.estimate), fmt::format("{:.2f}", 100.0 * r.confidence),
               r.differs ? "yes" : "no"});
  return table.text() + "\n";
}

nlohmann::json ratio_json(const Ratio& r) {
  nlohmann::json out = estimate_json(r.estimate);
  out.update({{"a", r.a},
              {"b", r.b},
              {"basis", r.basis},
              {"unlike", r.unlike ? nlohmann::json(r.difference) : nlohmann::json(nullptr)},
              {"measure", r.measure == Measure::speed ? "images_per_s" : "time_to_target"},
              {"rounds", r.rounds.size()},
              {"confidence", r.confidence},
              {"differs", r.differs}});
  return out;
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
    if (one.stopped || trace::view(one.data.row.label) != label || one.data.row.confirmation != 0) continue;
    step.push_back(one.summary.step_ms.median);
    wait.push_back(100.0 * one.summary.wait.share);
    bytes.push_back(one.summary.server_bytes.max_over_mean);
    busy.push_back(100.0 * one.data.final.core_busy);
  }
  return {trace::median(step), trace::median(wait), trace::median(bytes), trace::median(busy)};
}

/// Of whole trials.
std::vector<TrialView> views_of(const std::vector<TrialResult>& all) {
  std::vector<TrialView> views;
  for (const TrialResult& one : all)
    if (!one.stopped) views.push_back({one.data.row, one.summary});
  return views;
}

/// Those of one contestant, without the fresh ones.
std::vector<TrialView> rounds_of(const std::vector<TrialView>& all, const std::string& label) {
  std::vector<TrialView> rounds;
  for (const TrialView& one : all)
    if (trace::view(one.row.label) == label && one.row.confirmation == 0) rounds.push_back(one);
  return rounds;
}

/// In one line if all contestants have the same.
std::string injections_text(const std::vector<Contestant>& contestants) {
  const auto slow = [](const Contestant& one) { return one.config.injection.text(); };
  const std::string first = slow(contestants.front());
  const auto same = [&](const Contestant& one) { return slow(one) == first; };
  if (std::ranges::all_of(contestants, same)) return injected_text(first);
  std::string lines;
  for (const Contestant& one : contestants) lines += injected_text(slow(one), one.label + ": ");
  return lines;
}

}  // namespace

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
  out += injections_text(contest_.contestants);
  for (const std::string& one : asymmetries(contest_, talks(), setup_.launch.topology))
    out += line_text("unalike", one);
  std::vector<Share> shares;
  for (const Contestant& c : contest_.contestants)
    shares.push_back({c.resources.workers, static_cast<std::int64_t>(c.config.global_batch)});
  if (const std::string scaling = scaling_text(shares); !scaling.empty())
    out += line_text("scaling", scaling);
  if (contest_.target_accuracy > 0.0)
    out += line_text(
        "target", fmt::format("accuracy {}, evaluated every {} steps; in round r all train with seed {} + r",
                              number_text(contest_.target_accuracy), first.evaluate_every, seed_));
  out += "\n" + speed_table() + "\n" + rate_table();
  const std::string outcomes = outcome_table();
  return out + (outcomes.empty() ? "" : outcomes + "\n") + ratio_tables() + wrapped(verdict_text(), 98) +
         "\n";
}

std::string Comparison::speed_table() const {
  const std::vector<TrialView> trials = views_of(all_);
  const StalenessColumns columns(trials);
  Table table(with({"contestant", "images/s", "95 % interval", "step ms", "wait %", "max/mean", "cores %"},
                   columns.heads()));
  for (std::size_t i = 0; i < contest_.contestants.size(); ++i) {
    const Contestant& c = contest_.contestants[i];
    if (gone_[i]) {
      table.add(with({c.label, "diverged", "-", "-", "-", "-", "-"}, columns.cells({})));
      continue;
    }
    const bool ps = c.config.mode == "ps";
    const trace::Estimate speed = speed_of(results_[i]);
    const RoundMedians m = medians(all_, c.label);
    table.add(with({c.label, number_text(speed.median), number_range(speed), number_text(m.step_ms),
                    fmt::format("{:.0f}", m.wait_share), ps ? fmt::format("{:.2f}", m.server_bytes) : "-",
                    fmt::format("{:.0f}", m.core_busy)},
                   columns.cells(rounds_of(trials, c.label))));
  }
  const std::string stragglers = stragglers_text(trials);
  return table.text() + columns.legend() + (stragglers.empty() ? "" : "\n" + stragglers);
}

std::string Comparison::rate_table() const {
  const auto says_something = [](const Contestant& c) { return c.resources.price || c.resources.nodes > 1; };
  if (std::ranges::none_of(contest_.contestants, says_something)) return "";
  const bool priced = contest_.contestants.front().resources.price.has_value();
  std::vector<std::string> head = {"contestant", "ranks", "nodes", "images/s per node"};
  if (priced) head.insert(head.end(), {"price of an hour", "images for a price of 1"});
  Table table(head);
  for (std::size_t i = 0; i < contest_.contestants.size(); ++i) {
    if (gone_[i]) continue;
    const Contestant& c = contest_.contestants[i];
    const double speed = speed_of(results_[i]).median;
    std::vector<std::string> row = {c.label, std::to_string(c.resources.ranks()),
                                    std::to_string(c.resources.nodes),
                                    number_text(trace::images_per_s_per_node(speed, c.resources))};
    if (priced)
      row.insert(row.end(),
                 {number_text(*c.resources.price), number_text(trace::images_per_price(speed, c.resources))});
    table.add(std::move(row));
  }
  return table.text() + "\n";
}

std::string Comparison::outcome_table() const {
  const bool target = contest_.target_accuracy > 0.0;
  std::vector<std::string> head = {"contestant", "accuracy", "95 % interval"};
  if (target) head.insert(head.end(), {"s to target", "95 % interval", "reached"});
  Table table(head);
  std::size_t evaluated = 0;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Outcome one = outcome(results_[i]);
    if (gone_[i]) continue;
    evaluated += one.evaluated;
    std::vector<std::string> row = {contest_.contestants[i].label, number_text(one.accuracy.median),
                                    number_range(one.accuracy)};
    if (target) {
      row.push_back(std::isfinite(one.time_s.median) ? number_text(one.time_s.median) : "-");
      row.push_back(time_range(one.time_s));
      row.push_back(fmt::format("{} of {}", one.reached, one.rounds));
    }
    table.add(std::move(row));
  }
  return evaluated > 0 ? table.text() : "";
}

std::string Comparison::ratio_tables() const {
  std::string text;
  if (!contest_.ratios.empty()) text += ratio_table(contest_.ratios, "images/s against");
  if (!contest_.target_ratios.empty()) text += ratio_table(contest_.target_ratios, "sooner at the target");
  return text;
}

nlohmann::json Comparison::contestants_json() const {
  nlohmann::json out = nlohmann::json::array();
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Outcome one = outcome(results_[i]);
    nlohmann::json row = {{"label", contest_.contestants[i].label},
                          {"rounds", one.rounds},
                          {"accuracy", estimate_json(one.accuracy)},
                          {"time_to_target_s", estimate_json(one.time_s)},
                          {"reached", one.reached},
                          {"diverged", gone_[i]}};
    const trace::Estimate speed = speed_of(results_[i]);
    row["images_per_s"] = estimate_json(speed);
    row.update(rates_json(contest_.contestants[i].resources, speed));
    out.push_back(std::move(row));
  }
  return out;
}

nlohmann::json Comparison::outcome_json() const {
  nlohmann::json out;
  out["validity"] = setup_.launch.validity.text();
  out["asymmetries"] = asymmetries(contest_, talks(), setup_.launch.topology);
  out["ratios"] = nlohmann::json::array();
  for (const auto* const ratios : {&contest_.ratios, &contest_.target_ratios})
    for (const Ratio& r : *ratios) out["ratios"].push_back(ratio_json(r));
  out["target_accuracy"] =
      contest_.target_accuracy > 0.0 ? nlohmann::json(contest_.target_accuracy) : nlohmann::json(nullptr);
  out["contestants"] = contestants_json();
  out["rounds"] = rounds_;
  out["confirmation"] = confirmation_;
  const auto& decisive = decisive_ratios(contest_);
  out["winner"] = nullptr;
  if (!stopped_ && has_winner(decisive, candidate_, confirmation_)) {
    const Ratio& r = decisive[candidate_.ratio];
    out["winner"] = candidate_.a_wins ? r.a : r.b;
  }
  out["stopped"] = stopped_;
  out["verdict"] = verdict_text();
  return out;
}

nlohmann::json Comparison::json(const std::string& run, const trace::RunTables& tables) const {
  nlohmann::json out = outcome_json();
  out["run"] = run;
  out["lab"] = setup_.launch.lab;
  for (const TrialResult& one : all_) {
    auto trial = trial_json(run, tables, one.data, one.summary);
    trial["collective_choices"] = one.collective_choices;
    trial["bucket_rebuilds"] = one.bucket_rebuilds;
    trial["dropped_heard_by_workers"] = one.drops_heard;
    trial["repeat"] = one.data.row.repeat;
    trial["order"] = one.data.row.order;
    trial["confirmation"] = one.data.row.confirmation != 0;
    out["trials"].push_back(std::move(trial));
  }
  return out;
}

}  // namespace steelyard::cli
