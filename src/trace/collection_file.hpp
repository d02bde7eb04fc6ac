#pragma once

/// @file
/// What is known of many runs, as rows: tables, CSV, JSON and HDF5 of `collect` all say these fields.
/// docs/json.md explains them. A number that does not exist is NaN, a text that has no room ends in "...".

#include <string>
#include <vector>

#include "src/base/expected.hpp"
#include "src/trace/rows.hpp"

namespace steelyard::trace {

struct CollectedRow {
  Text<1024> run;  ///< Path as it was found.
  Text<128> run_id;
  Text<16> command;
  std::uint16_t trial;
  std::int32_t group;
  Text<64> label;
  Text<16> mode;
  Text<96> model;
  Text<128> data;
  std::int32_t ranks, servers, workers, nodes;  ///< ranks: of the launch; nodes: 0 where not known.
  std::int64_t batch, steps, warmup;
  std::uint64_t seed;
  std::int32_t repeat, order;
  std::uint8_t confirmation;
  Text<16> status;
  double images_per_s, step_ms, step_ms_low, step_ms_high;
  double data_ms, forward_ms, backward_ms, push_ms, wait_ms, update_ms;
  double wait_share, goodput_gb_per_s, compute_max_over_mean;
  double bytes_max_over_mean, messages_max_over_mean, busy_max_over_mean;
  double staleness_median, staleness_p95, staleness_max, staleness_mean, age_ms, skew_max, drop_share;
  double load_balance, communication_efficiency, parallel_efficiency;
  double worker_load_balance, worker_communication_efficiency, worker_parallel_efficiency;
  double server_load_balance, server_communication_efficiency, server_parallel_efficiency;
  double loss, accuracy, target_accuracy, time_to_target_s;
  double images_per_s_per_node, price_per_hour, images_per_price;
  double trace_overhead, core_busy;
  Text<96> validity;
  Text<256> hosts;  ///< With a comma between.
  Text<64> revision;
  Text<32> start;
  std::uint64_t parameter_hash;
};

/// Trials that differ only in seed or repeat. Medians over them, with 95 % intervals.
struct GroupRow {
  std::int32_t group;
  Text<1024> name;
  std::int32_t trials, diverged;
  std::int32_t servers, workers, nodes;
  double images_per_s, images_per_s_low, images_per_s_high;
  double step_ms, wait_share, bytes_max_over_mean, busy_max_over_mean, staleness_median, staleness_max;
  double load_balance, communication_efficiency, parallel_efficiency;
  double accuracy, accuracy_low, accuracy_high;
  double time_to_target_s, time_to_target_s_low, time_to_target_s_high;
  std::int32_t reached;
  double images_per_s_per_node, price_per_hour, images_per_price;
  Text<96> validity;
};

/// One setting of one group.
struct SettingRow {
  std::int32_t group;
  Text<32> name;
  Text<256> value;
};

/// One group against another, over the trials that are pairs.
struct RatioRow {
  std::int32_t family;  ///< Ratios that Holm's procedure takes together.
  std::int32_t a, b;    ///< Groups.
  Text<32> setting;     ///< What they differ in; "roles" for mode and numbers of servers and workers.
  Text<16> basis;       ///< ranks, workers, nodes, price; "" for a speed-up.
  Text<16> scaling;     ///< strong, weak; "" where the numbers of workers are equal.
  Text<24> measure;     ///< images_per_s: a / b; time_to_target: time of b / time of a.
  std::int32_t pairs;
  double ratio, low, high, confidence;
  std::uint8_t differs, ranked;
  Text<128> unlike;  ///< Why images/s rank nothing; "" where they do.
};

struct CollectionTables {
  std::vector<CollectedRow> trials;
  std::vector<GroupRow> groups;
  std::vector<SettingRow> settings;
  std::vector<RatioRow> ratios;
};

/// Writes a new file: format "steelyard-collection", version 1. @return an error where it is there already or
/// cannot be written.
Status write_collection(const std::string& path, const CollectionTables& tables);

}  // namespace steelyard::trace
