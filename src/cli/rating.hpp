#pragma once

/// @file
/// Prices as users say them, and the words for what trials are compared by.

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "src/base/expected.hpp"
#include "src/trace/resources.hpp"
#include "src/trace/statistics.hpp"

namespace steelyard::cli {

/// @param text as --price has it, "server=0.2,worker=1.0"; "" is none.
Expected<std::optional<trace::Price>> parse_price(const std::string& text);

/// The keys nodes, price_per_hour, images_per_s_per_node and images_per_price of docs/json.md.
nlohmann::json rates_json(const trace::Resources& resources, const trace::Estimate& images_per_s);

/// A number, or null where it is none; an estimate of such.
nlohmann::json finite_json(double value);
nlohmann::json estimate_json(const trace::Estimate& estimate);

/// Workers and global batch of a contestant.
struct Share {
  int workers = 0;
  std::int64_t batch = 0;
};
/// "strong: 3 and 4 workers share the same global batch of 64"; "weak: ..."; "" where all have as many
/// workers.
std::string scaling_text(std::span<const Share> shares);
/// "strong", "weak", "mixed", or "" where the numbers of workers are equal.
const char* scaling_name(trace::Scaling scaling);

}  // namespace steelyard::cli
