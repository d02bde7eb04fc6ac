#pragma once

/// @file
/// What scripts/lab tells the programs that it runs about the hosts it made.

#include <nlohmann/json.hpp>
#include <string>

#include "src/base/expected.hpp"
#include "src/cli/launch.hpp"

namespace steelyard::cli {

/// The lab's own record, from the file that STEELYARD_LAB names; null outside a lab.
Expected<nlohmann::json> read_lab();

bool has_shaped_links(const nlohmann::json& lab);

/// Lines for people: what limits the timings, and in a lab its hosts and how true they were when last
/// checked.
std::string validity_text(const Launch& launch);

}  // namespace steelyard::cli
