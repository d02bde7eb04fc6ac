#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/cli/comparison.hpp"
#include "src/cli/lab.hpp"
#include "src/cli/report.hpp"

namespace steelyard::cli {
namespace {

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

}  // namespace steelyard::cli
