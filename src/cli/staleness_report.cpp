#include "src/cli/staleness_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/cli/console.hpp"

namespace steelyard::cli {
namespace {

using nlohmann::json;
using trace::Straggler;
using trace::StragglerReason;
using trace::view;

constexpr std::size_t kColumns = 98;

std::string count_text(std::uint64_t count) { return with_commas(static_cast<std::int64_t>(count)); }

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

const char* reason_name(StragglerReason reason) {
  return reason == StragglerReason::compute ? "compute" : "wait";
}

bool may_drop(const trace::TrialRow& row) {
  const std::string_view policy = view(row.staleness_policy);
  return row.backup_workers > 0 || policy == "drop" || policy == "cost_aware";
}

json parts_json(const std::vector<trace::StalenessPart>& parts) {
  json out = json::array();
  for (const trace::StalenessPart& one : parts)
    out.push_back(
        {{"pushes", one.pushes}, {"mean", one.mean}, {"max", one.max}, {"mean_age_ms", one.mean_age_ms}});
  return out;
}

json histogram_json(const std::vector<trace::StalenessPart>& parts) {
  json out = json::array();
  for (const trace::StalenessPart& one : parts)
    out.push_back({{"staleness", one.max}, {"pushes", one.pushes}, {"mean_age_ms", one.mean_age_ms}});
  return out;
}

json drops_json(const trace::DropSummary& drops) {
  json out = {{"share", drops.share}, {"by_worker", drops.by_worker}, {"by_server", drops.by_server}};
  for (std::size_t i = 0; i < drops.by_reason.size(); ++i)
    out[std::string(trace::kDropReasonNames[i])] = drops.by_reason[i];
  return out;
}

json straggler_json(const Straggler& s) {
  return {{"worker", s.worker},
          {"rank", s.rank},
          {"reason", reason_name(s.reason)},
          {"compute_ratio", number(s.compute_ratio)},
          {"wait_share", s.wait_share},
          {"waited_for", s.waited_for},
          {"chronic", s.chronic},
          {"windows", {{"led", s.windows_led}, {"all", s.windows}, {"steps", s.window_steps}}},
          {"steps", s.steps}};
}

std::string what_text(const Straggler& s) {
  std::string text = s.reason == StragglerReason::compute
                         ? fmt::format("computes {:.2f} x as long as the others", s.compute_ratio)
                         : fmt::format(
                               "computes {:.2f} x as long as the others, yet {:.0f} % of the waiting "
                               "is for it: its servers or its link are slow",
                               s.compute_ratio, 100.0 * s.waited_for);
  return text;
}

std::string straggler_text(const Straggler& s) {
  std::string text = fmt::format("worker {} (rank {}): {}; in {} of {} windows", s.worker, s.rank,
                                 what_text(s), s.windows_led, s.windows);
  if (!s.steps.empty())
    text += fmt::format(", {} {}", s.steps.size() == 1 ? "most of it in step" : "most of it in steps",
                        fmt::join(s.steps, ", "));
  return text;
}

std::string waiting_text(const trace::WaitSummary& wait) {
  std::string text = fmt::format("{:.0f} % of the step", 100.0 * wait.share);
  if (wait.waited_for.empty()) return text;
  const auto most = std::ranges::max_element(wait.waited_for);
  if (*most <= 0.0) return text;
  return text + fmt::format("; {:.0f} % of it for worker {}", 100.0 * *most, most - wait.waited_for.begin());
}

std::string dropped_text(const trace::TrialSummary& s) {
  std::string text = fmt::format("{} of {} pushes ({:.1f} %)", count_text(s.dropped), count_text(s.pushes),
                                 100.0 * s.drops.share);
  std::string reasons;
  for (std::size_t i = 0; i < s.drops.by_reason.size(); ++i)
    if (s.drops.by_reason[i] > 0)
      reasons += fmt::format("{}{} {}", reasons.empty() ? ": " : ", ", count_text(s.drops.by_reason[i]),
                             trace::kDropReasonNames[i]);
  return text + reasons;
}

}  // namespace

std::string consistency_text(const trace::TrialRow& row) {
  std::string text(view(row.consistency));
  if (text == "ssp") text += fmt::format(" (lag {})", row.max_lag);
  if (row.backup_workers > 0)
    text += fmt::format(", {} backup worker{}", row.backup_workers, row.backup_workers == 1 ? "" : "s");
  const std::string_view policy = view(row.staleness_policy);
  if (policy.empty() || policy == "keep") return text;
  text += fmt::format(" {}", policy);
  if (policy == "drop") text += fmt::format(" beyond {}", row.max_staleness);
  if (view(row.on_drop) == "recompute") text += ", recomputed";
  return text;
}

json policy_json(const trace::TrialRow& row) {
  return {{"max_lag", row.max_lag},
          {"backup_workers", row.backup_workers},
          {"staleness_policy", std::string(view(row.staleness_policy))},
          {"max_staleness", row.max_staleness},
          {"on_drop", std::string(view(row.on_drop))}};
}

json staleness_json(const trace::TrialSummary& s) {
  const trace::StalenessSummary& staleness = s.staleness;
  return {
      {"staleness",
       {{"median", staleness.median},
        {"p95", staleness.p95},
        {"max", staleness.max},
        {"mean", staleness.mean},
        {"mean_age_ms", staleness.mean_age_ms},
        {"p95_age_ms", staleness.p95_age_ms},
        {"max_skew", staleness.max_skew},
        {"by_worker", parts_json(staleness.by_worker)},
        {"by_server", parts_json(staleness.by_server)},
        {"histogram", histogram_json(staleness.histogram)}}},
      {"drops", drops_json(s.drops)},
      {"wait", {{"share", s.wait.share}, {"by_worker", s.wait.by_worker}, {"waited_for", s.wait.waited_for}}},
      {"straggler", s.straggler ? straggler_json(*s.straggler) : json(nullptr)}};
}

std::string staleness_text(const trace::TrialRow& row, const trace::TrialSummary& s) {
  std::string text;
  const trace::StalenessSummary& staleness = s.staleness;
  if (s.pushes > 0)
    text += line_text(
        "staleness",
        fmt::format("median {} / 95 % {} / max {} updates, mean age {} ms, skew up to {}", staleness.median,
                    staleness.p95, staleness.max, number_text(staleness.mean_age_ms), staleness.max_skew));
  if (s.dropped > 0 || may_drop(row)) text += line_text("dropped", dropped_text(s));
  if (s.measured_steps > 0) text += line_text("waiting", waiting_text(s.wait));
  if (s.straggler)
    text += wrapped(line_text("straggler", straggler_text(*s.straggler)), kColumns, std::string(11, ' '));
  return text;
}

std::string staleness_csv_head() {
  return ",max_lag,backup_workers,staleness_policy,max_staleness,on_drop,pushes,dropped,drop_share,"
         "dropped_stale,dropped_late,dropped_stopped,staleness_median,staleness_p95,staleness_max,"
         "staleness_mean,mean_age_ms,max_skew,wait_share,straggler_worker,straggler_reason";
}

std::string staleness_csv(const trace::TrialRow& r, const trace::TrialSummary& s) {
  return fmt::format(",{},{},{},{},{},{},{},{:.6g},{},{:.6g},{:.6g},{},{:.6g},{:.6g},{},{:.6g},{},{}",
                     r.max_lag, r.backup_workers, view(r.staleness_policy), r.max_staleness, view(r.on_drop),
                     s.pushes, s.dropped, s.drops.share, fmt::join(s.drops.by_reason, ","),
                     s.staleness.median, s.staleness.p95, s.staleness.max, s.staleness.mean,
                     s.staleness.mean_age_ms, s.staleness.max_skew, s.wait.share,
                     s.straggler ? std::to_string(s.straggler->worker) : "",
                     s.straggler ? reason_name(s.straggler->reason) : "");
}

StalenessColumns::StalenessColumns(const std::vector<TrialView>& all) {
  for (const TrialView& one : all) {
    stale_ = stale_ || one.summary.staleness.max > 0;
    dropped_ = dropped_ || one.summary.dropped > 0 || may_drop(one.row);
  }
}

std::vector<std::string> StalenessColumns::heads() const {
  std::vector<std::string> heads;
  if (stale_) heads.emplace_back("stale");
  if (dropped_) heads.emplace_back("drop %");
  return heads;
}

std::vector<std::string> StalenessColumns::cells(const std::vector<TrialView>& rounds) const {
  std::vector<double> staleness;
  std::vector<double> dropped;
  std::int64_t most = 0;
  for (const TrialView& one : rounds) {
    if (one.summary.pushes == 0) continue;
    staleness.push_back(one.summary.staleness.median);
    most = std::max(most, one.summary.staleness.max);
    dropped.push_back(100.0 * one.summary.drops.share);
  }
  const bool ps = !staleness.empty();
  std::vector<std::string> cells;
  if (stale_) cells.push_back(ps ? fmt::format("{}/{}", number_text(trace::median(staleness)), most) : "-");
  if (dropped_) cells.push_back(ps ? fmt::format("{:.1f}", trace::median(dropped)) : "-");
  return cells;
}

std::string StalenessColumns::legend() const {
  std::string text;
  if (stale_) text += "stale: updates between read and apply, median/max";
  if (dropped_) text += fmt::format("{}drop %: of the pushes", stale_ ? "; " : "");
  return text.empty() ? text : text + "\n";
}

std::string stragglers_text(const std::vector<TrialView>& trials) {
  struct Rounds {
    std::size_t all = 0;
    std::map<std::pair<int, StragglerReason>, std::vector<const Straggler*>> of{};
  };
  std::map<std::string, Rounds> contestants;
  for (const TrialView& one : trials) {
    if (one.row.confirmation != 0) continue;
    Rounds& rounds = contestants[std::string(view(one.row.label))];
    ++rounds.all;
    if (const auto& s = one.summary.straggler) rounds.of[{s->worker, s->reason}].push_back(&*s);
  }
  std::string text;
  for (const auto& [label, rounds] : contestants)
    for (const auto& [who, seen] : rounds.of) {
      if (2 * seen.size() < rounds.all) continue;
      std::vector<Straggler> sorted;
      for (const Straggler* one : seen) sorted.push_back(*one);
      std::ranges::sort(sorted, {}, &Straggler::compute_ratio);
      const Straggler& middle = sorted[sorted.size() / 2];
      text += wrapped(line_text("straggler", fmt::format("{}: worker {} (rank {}) {}; in {} of {} rounds",
                                                         label, middle.worker, middle.rank, what_text(middle),
                                                         seen.size(), rounds.all)),
                      kColumns, std::string(11, ' '));
    }
  return text;
}

}  // namespace steelyard::cli
