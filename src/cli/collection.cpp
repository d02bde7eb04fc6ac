#include "src/cli/collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace steelyard::cli {
namespace {

using nlohmann::json;
using trace::text;
using trace::view;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What a manifest tells; it is data, and what it lacks is not known.
struct Place {
  std::vector<int> node_of_rank;
  std::string hosts;  ///< Each once, with a comma between.
  std::string revision;
  std::string start;
  bool by_time = false;
};

std::string text_in(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Place place_of(const std::string& manifest) {
  Place place;
  const json read = json::parse(manifest, nullptr, false);
  if (!read.is_object()) return place;
  place.revision = text_in(read, "git_revision");
  place.start = text_in(read, "start");
  std::set<std::string> hosts;
  if (const auto list = read.find("hosts"); list != read.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_string()) hosts.insert(one.get<std::string>());
  place.hosts = fmt::format("{}", fmt::join(hosts, ","));
  if (const auto list = read.find("node_of_rank"); list != read.end() && list->is_array())
    for (const json& one : *list)
      if (one.is_number_integer()) place.node_of_rank.push_back(one.get<int>());
  if (const auto one = read.find("calibration"); one != read.end() && one->is_object())
    place.by_time = one->contains("trial_seconds");
  return place;
}

/// Where a figure of /summary goes.
struct Figure {
  const char* metric;
  const char* role;
  double trace::CollectedRow::*to;
};
using Row = trace::CollectedRow;
constexpr Figure kFigures[] = {
    {"throughput", "all", &Row::images_per_s},
    {"step_time", "worker", &Row::step_ms},
    {"data", "worker", &Row::data_ms},
    {"forward", "worker", &Row::forward_ms},
    {"backward", "worker", &Row::backward_ms},
    {"push", "worker", &Row::push_ms},
    {"wait", "worker", &Row::wait_ms},
    {"update", "worker", &Row::update_ms},
    {"wait_share", "worker", &Row::wait_share},
    {"goodput", "worker", &Row::goodput_gb_per_s},
    {"compute_max_over_mean", "worker", &Row::compute_max_over_mean},
    {"bytes_max_over_mean", "server", &Row::bytes_max_over_mean},
    {"messages_max_over_mean", "server", &Row::messages_max_over_mean},
    {"busy_max_over_mean", "server", &Row::busy_max_over_mean},
    {"staleness_median", "server", &Row::staleness_median},
    {"staleness_p95", "server", &Row::staleness_p95},
    {"staleness_max", "server", &Row::staleness_max},
    {"staleness_mean", "server", &Row::staleness_mean},
    {"age_mean", "server", &Row::age_ms},
    {"skew_max", "server", &Row::skew_max},
    {"drop_share", "server", &Row::drop_share},
    {"load_balance", "all", &Row::load_balance},
    {"communication_efficiency", "all", &Row::communication_efficiency},
    {"parallel_efficiency", "all", &Row::parallel_efficiency},
    {"load_balance", "worker", &Row::worker_load_balance},
    {"communication_efficiency", "worker", &Row::worker_communication_efficiency},
    {"parallel_efficiency", "worker", &Row::worker_parallel_efficiency},
    {"load_balance", "server", &Row::server_load_balance},
    {"communication_efficiency", "server", &Row::server_communication_efficiency},
    {"parallel_efficiency", "server", &Row::server_parallel_efficiency},
};

/// By trial and metric with role.
using Summary = std::map<std::pair<std::uint16_t, std::string>, const trace::SummaryRow*>;

std::string key_of(std::string_view metric, std::string_view role) {
  return std::string(metric) + "/" + std::string(role);
}

void fill_figures(const Summary& summary, Row& row) {
  const auto find = [&](const char* metric, const char* role) -> const trace::SummaryRow* {
    const auto found = summary.find({row.trial, key_of(metric, role)});
    return found == summary.end() ? nullptr : found->second;
  };
  for (const Figure& one : kFigures) {
    const auto* found = find(one.metric, one.role);
    row.*one.to = found != nullptr ? found->value : kNone;
  }
  const auto* step = find("step_time", "worker");
  row.step_ms_low = step != nullptr ? step->low : kNone;
  row.step_ms_high = step != nullptr ? step->high : kNone;
}

void fill_final(const trace::FinalRow& final, bool replay, Row& row) {
  row.loss = replay ? kNone : final.loss;
  row.accuracy = final.accuracy;
  row.target_accuracy = final.target_accuracy > 0.0 ? final.target_accuracy : kNone;
  row.time_to_target_s = final.target_accuracy > 0.0 ? final.time_to_target_s : kNone;
  row.trace_overhead = final.trace_overhead;
  row.core_busy = final.core_busy;
  row.parameter_hash = final.parameter_hash;
}

void fill_plan(const trace::RunSummary& run, const trace::TrialRow& trial, Row& row) {
  row.run = text<1024>(run.directory);
  row.run_id = text<128>(run.tables.run_id);
  row.command = text<16>(run.tables.command);
  row.trial = trial.id;
  row.label = trial.label;
  row.mode = trial.mode;
  row.model = text<96>(run.tables.model);
  row.data = text<128>(run.tables.data);
  row.ranks = run.tables.ranks;
  row.servers = trial.servers;
  row.workers = trial.workers;
  row.batch = trial.batch;
  row.steps = trial.steps;
  row.warmup = trial.warmup;
  row.seed = trial.seed;
  row.repeat = trial.repeat;
  row.order = trial.order;
  row.confirmation = trial.confirmation;
  row.status = trial.status;
  row.validity = text<96>(run.tables.validity);
}

void fill_place(const Place& place, Row& row) {
  row.hosts = text<256>(place.hosts);
  row.revision = text<64>(place.revision);
  row.start = text<32>(place.start);
}

/// World ranks of one trial.
struct Ranks {
  std::vector<int> servers;
  std::vector<int> workers;
};

std::map<std::uint16_t, Ranks> ranks_by_trial(const trace::RunTables& tables) {
  std::map<std::uint16_t, Ranks> all;
  for (const trace::RoleRow& row : tables.roles) {
    if (view(row.role) == "server") all[row.trial].servers.push_back(row.rank);
    if (view(row.role) == "worker") all[row.trial].workers.push_back(row.rank);
  }
  return all;
}

void fill_rates(const trace::Resources& resources, Row& row) {
  row.nodes = resources.nodes;
  row.images_per_s_per_node = trace::images_per_s_per_node(row.images_per_s, resources);
  row.price_per_hour = resources.price.value_or(kNone);
  row.images_per_price = trace::images_per_price(row.images_per_s, resources);
}

/// Why nothing of this run counts; "" if something does.
std::string reason_against(const trace::RunSummary& run, std::set<std::string>& manifests) {
  if (run.tables.final.empty())
    return run.complete
               ? "holds no trial that was run"
               : "is not complete (no `done`) and has no results yet; `steelyard inspect` shows what "
                 "its ranks recorded";
  if (!run.tables.manifest.empty() && !manifests.insert(run.tables.manifest).second)
    return "is a copy of a run that is collected already";
  return "";
}

}  // namespace

void add_run(const trace::RunSummary& run, const RunOptions& options,
             const std::optional<trace::Price>& price, Collection& collection) {
  const Place place = place_of(run.tables.manifest);
  Summary summary;
  for (const trace::SummaryRow& row : run.tables.summary)
    summary[{row.trial, key_of(view(row.metric), view(row.role))}] = &row;
  std::map<std::uint16_t, const trace::FinalRow*> finals;
  for (const trace::FinalRow& row : run.tables.final) finals[row.trial] = &row;
  auto ranks = ranks_by_trial(run.tables);
  ++collection.runs;
  for (const trace::TrialRow& trial : run.tables.trials) {
    const auto final = finals.find(trial.id);
    if (final == finals.end()) continue;  // Planned, and never run.
    Collected one;
    fill_plan(run, trial, one.row);
    fill_figures(summary, one.row);
    one.settings = trial_settings(options, run.tables, trial, place.by_time);
    fill_final(*final->second, run.tables.model.starts_with("replay:"), one.row);
    fill_place(place, one.row);
    one.semantics = semantics_of(one.settings, trial);
    one.resources =
        trace::resources_of(ranks[trial.id].servers, ranks[trial.id].workers, place.node_of_rank, price);
    fill_rates(one.resources, one.row);
    one.settings["nodes"] = std::to_string(one.resources.nodes);
    one.family = run.tables.command == "compare"
                     ? run.directory
                     : std::filesystem::path(run.directory).parent_path().string() + "/";
    collection.trials.push_back(std::move(one));
  }
}

Collection collect_runs(const std::vector<std::string>& targets, const std::optional<trace::Price>& price) {
  Collection collection;
  std::set<std::string> manifests;
  for (const std::string& directory : find_runs(targets, collection.remarks)) {
    const auto run = trace::read_summary(directory);
    const std::string reason = run ? reason_against(run.value(), manifests) : run.error().message;
    if (!reason.empty()) {
      collection.remarks.push_back({directory, reason});
      continue;
    }
    const auto options = read_run_options(directory + "/run.toml");
    if (!options) {
      collection.remarks.push_back({directory, options.error().message});
      continue;
    }
    if (!run.value().complete)
      collection.remarks.push_back({directory, "is not complete (no `done`); what it has is collected"});
    add_run(run.value(), options.value(), price, collection);
  }
  group_trials(collection);
  pair_groups(collection);
  return collection;
}

}  // namespace steelyard::cli
