#pragma once

/// @file
/// The result of a trial for people and for programs. Both say the same figures.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/collective/collective.hpp"
#include "src/trace/metrics.hpp"
#include "src/trace/run_file.hpp"

namespace steelyard::cli {

/// The keys of `train` in docs/json.md. NaN becomes null.
nlohmann::json trial_json(const std::string& run, const trace::RunTables& tables,
                          const trace::TrialData& trial, const trace::TrialSummary& summary);
std::string trial_text(const trace::RunTables& tables, const trace::TrialData& trial,
                       const trace::TrialSummary& summary);

/// "0.86 reached after 12.3 s, step 400 (evaluated every 50)"; "" where no target was asked for.
std::string target_text(const trace::TrialData& trial, const trace::TrialSummary& summary);
/// "step 37: 'fc3.bias' is not finite"; of a trial that diverged.
std::string divergence_text(const trace::TrialSummary& summary);
/// "by a signal after 37 of 1,000 steps"; of a trial that was stopped.
std::string stop_text(const trace::TrialRow& row, const trace::TrialSummary& summary);
/// What `accuracy` is in this run, in words: "accuracy", or "mean average precision" for a model with tags.
std::string accuracy_name(const trace::RunTables& tables);

/// "ps bsp, 1 server + 2 workers, placement range".
std::string trial_title(const trace::TrialRow& row);

/// The line that says what was injected; "" if nothing was. @param slow as --slow has it.
/// @param who stands before it.
std::string injected_text(std::string_view slow, const std::string& who = "");

/// `collective_choices` of docs/json.md, and the same in a line for each bucket.
nlohmann::json choices_json(const std::vector<CollectiveChoice>& choices);
std::string choices_text(const nlohmann::json& choices);

/// Indented, with a line end. Bytes that are no UTF-8 become U+FFFD.
std::string json_text(const nlohmann::json& json);
/// Writes `json` as --json asks.
Status write_json(const std::string& path, const nlohmann::json& json);

}  // namespace steelyard::cli
