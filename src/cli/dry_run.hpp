#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "src/cli/launch.hpp"
#include "src/cli/settings.hpp"

namespace steelyard::cli {

/// Roles, placement, bytes and messages per step of a trial, computed and not run.
std::string dry_run_text(const Launch& launch, const RunSettings& settings, const TrialConfig& config);
nlohmann::json dry_run_json(const Launch& launch, const ModelSpec& model, const TrialConfig& config);

}  // namespace steelyard::cli
