#include <fmt/format.h>

#include "src/cli/commands.hpp"
#include "src/cli/console.hpp"
#include "src/cli/output_file.hpp"
#include "src/cli/report.hpp"
#include "src/cli/staleness_report.hpp"
#include "src/trace/reader.hpp"

namespace steelyard::cli {
namespace {

using trace::view;

std::string state_text(const trace::RunData& run) {
  if (run.complete) return "complete";
  if (run.tables.exit_status == kStopped)
    return "stopped by a signal before it was whole; all that was recorded is here";
  std::string text = "not complete: the job was killed or is still running";
  if (!run.unclosed.empty())
    text += fmt::format(
        "; {} trace file(s) without an orderly end (h5clear -s FILE makes them open for other readers)",
        run.unclosed.size());
  if (!run.missing.empty())
    text +=
        fmt::format("; {} trace file(s) missing, the first is {}", run.missing.size(), run.missing.front());
  return text;
}

/// A trial of which nothing was recorded is not shown.
bool has_steps(const trace::TrialSummary& summary) { return summary.steps > 0; }

std::string trials_text(const std::vector<TrialView>& trials) {
  const StalenessColumns columns(trials);
  Table table(with({"contestant", "id", "round", "status", "images/s", "step ms", "loss", "max/mean", "PE"},
                   columns.heads()));
  for (const auto& [row, s] : trials)
    table.add(with({std::string(view(row.label)), std::to_string(row.id), std::to_string(row.repeat),
                    std::string(view(row.status)), number_text(s.images_per_s), number_text(s.step_ms.median),
                    number_text(s.loss),
                    s.server_load.empty() ? "-" : fmt::format("{:.2f}", s.server_bytes.max_over_mean),
                    fmt::format("{:.2f}", s.pop.parallel_efficiency)},
                   columns.cells({{row, s}})));
  const std::string stragglers = stragglers_text(trials);
  return table.text() + "PE: parallel efficiency (POP)\n" + columns.legend() +
         (stragglers.empty() ? "" : "\n" + stragglers);
}

/// What some trials came to: who diverged, and where a target was asked for, who reached it.
std::string outcome_text(const trace::RunData& run, const std::vector<trace::TrialSummary>& summaries) {
  std::string text;
  for (std::size_t i = 0; i < run.trials.size(); ++i)
    if (summaries[i].diverged)
      text += line_text("DIVERGED", fmt::format("trial {}, {}", i, divergence_text(summaries[i])));
  Table table({"id", "seed", "accuracy", "s to target", "step"});
  bool any = false;
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    const trace::TrialSummary& s = summaries[i];
    if (s.target.accuracy <= 0.0) continue;
    any = true;
    table.add({std::to_string(run.trials[i].row.id), std::to_string(run.trials[i].row.seed),
               number_text(s.accuracy), number_text(s.target.time_s),
               s.target.reached() ? std::to_string(s.target.step) : "not reached"});
  }
  return any ? text + "\n" + table.text() : text;
}

std::string run_text(const trace::RunData& run, const std::vector<trace::TrialSummary>& summaries) {
  std::string text = line_text("run", fmt::format("{} ({})", run.directory, run.tables.command));
  text += line_text("state", state_text(run));
  if (run.trials.size() == 1) {
    if (!run.complete && has_steps(summaries.front()))
      text += line_text("recovered",
                        fmt::format("{} steps that every worker had written", summaries.front().steps));
    return text + trial_text(run.tables, run.trials.front(), summaries.front());
  }
  text += line_text("model", run.tables.model) + line_text("data", run.tables.data) + "\n";
  std::vector<TrialView> trials;
  for (std::size_t i = 0; i < run.trials.size(); ++i)
    if (has_steps(summaries[i])) trials.push_back({run.trials[i].row, summaries[i]});
  return text + trials_text(trials) + outcome_text(run, summaries);
}

/// Without a trace the figures are those that run.h5 keeps. A run that did not end in order keeps none.
bool without_trace(const trace::RunData& run) {
  if (!run.complete && run.tables.exit_status != kStopped) return false;
  for (const trace::TrialData& trial : run.trials)
    for (const trace::RankTrial& rank : trial.ranks)
      if (!rank.steps.empty()) return false;
  return true;
}

std::string kept_text(const trace::RunData& run, const std::vector<trace::TrialSummary>& summaries) {
  std::string text =
      line_text("run", fmt::format("{} ({}, without trace)", run.directory, run.tables.command));
  text += line_text("state", state_text(run)) + line_text("model", run.tables.model) + "\n";
  Table table({"trial", "images/s", "loss", accuracy_name(run.tables), "parameter hash"});
  for (const trace::FinalRow& row : run.tables.final)
    table.add({std::to_string(row.trial), number_text(row.images_per_s), number_text(row.loss),
               number_text(row.accuracy), fmt::format("{:016x}", row.parameter_hash)});
  text += table.text();
  return text + outcome_text(run, summaries);
}

/// The figures of a trial that /final keeps; what only a trace can tell is null.
nlohmann::json kept_json(const trace::RunData& run, const trace::TrialData& trial,
                         trace::TrialSummary summary) {
  summary.images_per_s = trial.final.images_per_s;
  summary.loss = trial.final.loss;
  summary.accuracy = trial.final.accuracy;
  summary.trace_overhead = trial.final.trace_overhead;
  nlohmann::json out = trial_json(run.directory, run.tables, trial, summary);
  for (const char* key : {"steps", "measured_steps", "step_ms", "phases_ms", "goodput_gb_per_s",
                          "worker_max_over_mean", "pop", "pushes", "applied", "dropped", "staleness", "drops",
                          "wait", "straggler", "server_max_over_mean", "server_load", "messages"})
    out[key] = nullptr;
  return out;
}

nlohmann::json run_json(const trace::RunData& run, const std::vector<trace::TrialSummary>& summaries) {
  nlohmann::json out = {
      {"run", run.directory},     {"command", run.tables.command}, {"validity", run.tables.validity},
      {"complete", run.complete}, {"unclosed", run.unclosed},      {"missing", run.missing}};
  out["trials"] = nlohmann::json::array();
  for (std::size_t i = 0; i < run.trials.size(); ++i)
    out["trials"].push_back(without_trace(run)
                                ? kept_json(run, run.trials[i], summaries[i])
                                : trial_json(run.directory, run.tables, run.trials[i], summaries[i]));
  return out;
}

}  // namespace

int inspect(const Options& options) {
  const std::string& json_path = options.text("json");
  if (auto good = check_path("json", json_path); !good) {
    print_error(good.error());
    return kUsage;
  }
  const auto read = trace::read_run(options.target);
  if (!read) {
    print_error(read.error());
    return kUsage;
  }
  const trace::RunData& run = read.value();
  if (run.trials.empty()) {
    print_error(Error{fmt::format("run '{}' names no trial in its run.h5", options.target)});
    return kUsage;
  }
  std::vector<trace::TrialSummary> summaries;
  for (const trace::TrialData& trial : run.trials) summaries.push_back(trace::summarise(trial));
  print(without_trace(run) ? kept_text(run, summaries) : run_text(run, summaries), json_path == "-");
  if (json_path.empty()) return kDone;
  if (auto written = write_json(json_path, run_json(run, summaries)); !written) {
    print_error(written.error());
    return kFailed;
  }
  return kDone;
}

}  // namespace steelyard::cli
