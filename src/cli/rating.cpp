#include "src/cli/rating.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>
#include <vector>

namespace steelyard::cli {
namespace {

constexpr double kMostPrice = 1e9;

std::optional<double> price_in(std::string_view text) {
  double value = 0.0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = code == std::errc() && rest == text.data() + text.size() && value >= 0.0;
  return good && value <= kMostPrice ? std::optional(value) : std::nullopt;
}

/// "3, 4 and 5".
std::string listed(const std::set<std::int64_t>& numbers) {
  std::vector<std::int64_t> all(numbers.begin(), numbers.end());
  if (all.size() == 1) return std::to_string(all.front());
  const std::int64_t last = all.back();
  all.pop_back();
  return fmt::format("{} and {}", fmt::join(all, ", "), last);
}

}  // namespace

Expected<std::optional<trace::Price>> parse_price(const std::string& text) {
  if (text.empty()) return std::optional<trace::Price>();
  std::optional<double> server;
  std::optional<double> worker;
  bool good = true;
  for (std::string_view rest = text; good && !rest.empty();) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::string_view name = item.substr(0, item.find('='));
    std::optional<double>& price = name == "server" ? server : worker;
    good = (name == "server" || name == "worker") && item.size() > name.size() && !price;
    if (good) good = (price = price_in(item.substr(name.size() + 1))).has_value();
  }
  if (!good || !server || !worker || *worker <= 0.0)
    return Error{
        fmt::format("--price '{}': must be server=P,worker=P, what a rank of each costs in an hour, up to "
                    "{:g}; that of a "
                    "worker is above 0",
                    text, kMostPrice)};
  return std::optional(trace::Price{*server, *worker});
}

nlohmann::json finite_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json estimate_json(const trace::Estimate& e) {
  return {{"median", finite_json(e.median)}, {"low", finite_json(e.low)}, {"high", finite_json(e.high)}};
}

nlohmann::json rates_json(const trace::Resources& resources, const trace::Estimate& speed) {
  const auto rated = [&](double (*rate)(double, const trace::Resources&)) {
    return estimate_json(
        {rate(speed.median, resources), rate(speed.low, resources), rate(speed.high, resources)});
  };
  return {{"nodes", resources.nodes > 0 ? nlohmann::json(resources.nodes) : nlohmann::json(nullptr)},
          {"price_per_hour", resources.price ? nlohmann::json(*resources.price) : nlohmann::json(nullptr)},
          {"images_per_s_per_node", rated(trace::images_per_s_per_node)},
          {"images_per_price", rated(trace::images_per_price)}};
}

std::string scaling_text(std::span<const Share> shares) {
  std::set<std::int64_t> workers;
  std::set<std::int64_t> batches;
  bool weak = true;
  for (const Share& one : shares) {
    workers.insert(one.workers);
    batches.insert(one.batch);
    const auto kind = trace::scaling(shares.front().workers, shares.front().batch, one.workers, one.batch);
    weak = weak && (kind == trace::Scaling::weak ||
                    (kind == trace::Scaling::none && one.batch == shares.front().batch));
  }
  if (workers.size() < 2) return "";
  if (batches.size() == 1)
    return fmt::format("strong: {} workers share the same global batch of {}", listed(workers),
                       *batches.begin());
  if (weak)
    return fmt::format("weak: {} workers with the same batch of {} each, global batches of {}",
                       listed(workers), shares.front().batch / std::max(shares.front().workers, 1),
                       listed(batches));
  return fmt::format("neither strong nor weak: {} workers, global batches of {}", listed(workers),
                     listed(batches));
}

const char* scaling_name(trace::Scaling scaling) {
  switch (scaling) {
    case trace::Scaling::none:
      return "";
    case trace::Scaling::strong:
      return "strong";
    case trace::Scaling::weak:
      return "weak";
    case trace::Scaling::mixed:
      return "mixed";
  }
  return "";
}

}  // namespace steelyard::cli
