#pragma once

/// @file
/// The result of a trial for people and for programs. Both say the same figures.

#include <nlohmann/json.hpp>
#include <string>
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

/// What `accuracy` is in this run, in words: "accuracy", or "mean average precision" for a model with tags.
std::string accuracy_name(const trace::RunTables& tables);

/// "ps bsp, 1 server + 2 workers, placement range".
std::string trial_title(const trace::TrialRow& row);

/// `collective_choices` of docs/json.md, and the same in a line for each bucket.
nlohmann::json choices_json(const std::vector<CollectiveChoice>& choices);
std::string choices_text(const nlohmann::json& choices);

/// Writes `json` to a file or, for "-", to standard output. @return an error that names the file.
Status write_json(const std::string& path, const nlohmann::json& json);
/// Whether `path` can be written, known before the work begins.
Status check_json_path(const std::string& path);

}  // namespace steelyard::cli
