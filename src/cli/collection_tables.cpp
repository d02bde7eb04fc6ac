#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "src/cli/collection_report.hpp"
#include "src/cli/rating.hpp"

namespace steelyard::cli {
namespace {

using trace::CollectedRow;
using trace::text;
using trace::view;

/// Values of the trials that count; those that do not exist are left out.
std::vector<double> values_of(const Collection& collection, const Group& group, double CollectedRow::*field) {
  std::vector<double> values;
  for (const std::size_t i : group.trials) {
    const Collected& one = collection.trials[i];
    if (one.good() && !std::isnan(one.row.*field)) values.push_back(one.row.*field);
  }
  return values;
}

trace::Estimate estimate_of(const Collection& collection, const Group& group, double CollectedRow::*field) {
  const std::vector<double> values = values_of(collection, group, field);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return values.empty() ? trace::Estimate{kNone, kNone, kNone} : trace::estimate_median(values, 1.0 - kAlpha);
}

/// Trials that did not reach the target took infinitely long.
void fill_target(const Collection& collection, const Group& group, trace::GroupRow& row) {
  std::vector<double> times;
  for (const std::size_t i : group.trials) {
    const Collected& one = collection.trials[i];
    if (!one.good() || std::isnan(one.row.target_accuracy)) continue;
    const bool reached = !std::isnan(one.row.time_to_target_s);
    times.push_back(reached ? one.row.time_to_target_s : std::numeric_limits<double>::infinity());
    row.reached += reached ? 1 : 0;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const trace::Estimate time =
      times.empty() ? trace::Estimate{kNone, kNone, kNone} : trace::estimate_median(times, 1.0 - kAlpha);
  row.time_to_target_s = time.median;
  row.time_to_target_s_low = time.low;
  row.time_to_target_s_high = time.high;
}

/// Medians that have no interval beside them.
void fill_medians(const Collection& collection, const Group& group, trace::GroupRow& row) {
  const auto median = [&](double CollectedRow::*field) {
    return estimate_of(collection, group, field).median;
  };
  row.step_ms = median(&CollectedRow::step_ms);
  row.wait_share = median(&CollectedRow::wait_share);
  row.bytes_max_over_mean = median(&CollectedRow::bytes_max_over_mean);
  row.busy_max_over_mean = median(&CollectedRow::busy_max_over_mean);
  row.staleness_median = median(&CollectedRow::staleness_median);
  row.load_balance = median(&CollectedRow::load_balance);
  row.communication_efficiency = median(&CollectedRow::communication_efficiency);
  row.parallel_efficiency = median(&CollectedRow::parallel_efficiency);
  const auto staleness = values_of(collection, group, &CollectedRow::staleness_max);
  row.staleness_max =
      staleness.empty() ? std::numeric_limits<double>::quiet_NaN() : std::ranges::max(staleness);
}

trace::GroupRow group_row(const Collection& collection, std::size_t number) {
  const Group& group = collection.groups[number];
  const Collected& first = collection.trials[group.trials.front()];
  trace::GroupRow row{};
  row.group = static_cast<std::int32_t>(number);
  row.name = text<1024>(group.name);
  for (const std::size_t i : group.trials) {
    row.trials += collection.trials[i].good() ? 1 : 0;
    row.diverged += view(collection.trials[i].row.status) == "diverged" ? 1 : 0;
  }
  row.servers = first.row.servers;
  row.workers = first.row.workers;
  row.nodes = first.row.nodes;
  row.validity = first.row.validity;
  const trace::Estimate speed = estimate_of(collection, group, &CollectedRow::images_per_s);
  const trace::Estimate accuracy = estimate_of(collection, group, &CollectedRow::accuracy);
  std::tie(row.images_per_s, row.images_per_s_low, row.images_per_s_high) =
      std::tie(speed.median, speed.low, speed.high);
  std::tie(row.accuracy, row.accuracy_low, row.accuracy_high) =
      std::tie(accuracy.median, accuracy.low, accuracy.high);
  row.images_per_s_per_node = trace::images_per_s_per_node(speed.median, first.resources);
  row.price_per_hour = first.row.price_per_hour;
  row.images_per_price = trace::images_per_price(speed.median, first.resources);
  fill_medians(collection, group, row);
  fill_target(collection, group, row);
  return row;
}

trace::RatioRow ratio_row(const GroupRatio& one) {
  trace::RatioRow row{};
  const Ratio& r = one.ratio;
  row.family = one.family;
  row.a = static_cast<std::int32_t>(r.contestant_a);
  row.b = static_cast<std::int32_t>(r.contestant_b);
  row.setting = text<32>(one.setting);
  row.basis = text<16>(r.basis);
  row.scaling = text<16>(scaling_name(one.scaling));
  row.measure = text<24>(r.measure == Measure::speed ? "images_per_s" : "time_to_target");
  row.pairs = static_cast<std::int32_t>(r.rounds.size());
  row.ratio = r.estimate.median;
  row.low = r.estimate.low;
  row.high = r.estimate.high;
  row.confidence = r.confidence;
  row.differs = r.differs ? 1 : 0;
  row.ranked = one.ranked ? 1 : 0;
  row.unlike = text<128>(r.difference);
  return row;
}

}  // namespace

trace::CollectionTables collection_tables(const Collection& collection) {
  trace::CollectionTables tables;
  for (const Collected& one : collection.trials) tables.trials.push_back(one.row);
  for (std::size_t i = 0; i < collection.groups.size(); ++i) {
    tables.groups.push_back(group_row(collection, i));
    const Collected& first = collection.trials[collection.groups[i].trials.front()];
    for (const auto& [name, value] : first.settings)
      tables.settings.push_back({static_cast<std::int32_t>(i), text<32>(name), text<256>(value)});
  }
  for (const GroupRatio& one : collection.ratios) tables.ratios.push_back(ratio_row(one));
  return tables;
}

}  // namespace steelyard::cli
