#include "src/cli/trial_runner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "modes/divergence.hpp"
#include "src/base/log.hpp"
#include "src/cli/report.hpp"
#include "src/cli/staleness_report.hpp"

namespace steelyard::cli {
namespace {

using trace::text;
using trace::view;

std::string shape_text(const Tensor& tensor) {
  std::string all;
  for (const std::size_t size : tensor.shape) all += (all.empty() ? "" : ",") + std::to_string(size);
  return all;
}

std::vector<trace::TensorRow> inventory_rows(const Inventory& inventory) {
  std::vector<trace::TensorRow> rows;
  for (const Tensor& tensor : inventory)
    rows.push_back({static_cast<std::int32_t>(rows.size()), text<96>(tensor.name),
                    text<64>(shape_text(tensor)), text<8>("float32"), tensor.elements(), tensor.bytes()});
  return rows;
}

std::pair<std::string, int> role_of(const Roles& roles, Rank rank) {
  if (const int i = Roles::index_in(roles.servers, rank); i != Roles::kNone) return {"server", i};
  if (const int i = Roles::index_in(roles.workers, rank); i != Roles::kNone) return {"worker", i};
  return {"idle", Roles::index_in(roles.idle, rank)};
}

constexpr const char* kSummaryHead =
    "trial,label,mode,collective,placement,consistency,servers,workers,batch,steps,warmup,repeat,order,"
    "confirmation,"
    "status,images_per_s,step_ms_median,step_ms_low,step_ms_high,loss,accuracy,server_bytes_max_over_mean,"
    "trace_overhead,parameter_hash,target_accuracy,time_to_target_s";

std::string summary_line(const trace::TrialRow& r, const TrialResult& result) {
  const trace::TrialSummary& s = result.summary;
  return fmt::format(
             "{},\"{}\",{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:."
             "4f},{:."
             "5f},{:016x},{:.6g},{:.6g}",
             r.id, view(r.label), view(r.mode), view(r.collective), view(r.placement), view(r.consistency),
             r.servers, r.workers, r.batch, r.steps, r.warmup, r.repeat, r.order, r.confirmation,
             view(r.status), s.images_per_s, s.step_ms.median, s.step_ms.low, s.step_ms.high, s.loss,
             s.accuracy, s.server_bytes.max_over_mean, s.trace_overhead, result.data.final.parameter_hash,
             s.target.accuracy, s.target.time_s) +
         staleness_csv(r, s);
}

}  // namespace

Roles roles_of(const TrialConfig& config, const mpi::Topology& topology) {
  return find_mode(config.mode).value()->roles(config, topology.node_of_rank);
}

TrialRunner::TrialRunner(const Launch& launch, const RunSettings& settings, const Dataset& dataset)
    : launch_(launch), settings_(settings), dataset_(dataset) {}

std::unique_ptr<TrialRunner> TrialRunner::begin(const Launch& launch, const RunSettings& settings,
                                                const Options& options, const Dataset& dataset,
                                                const std::vector<PlannedTrial>& planned,
                                                nlohmann::json manifest, const std::string& run_id) {
  std::unique_ptr<TrialRunner> runner(new TrialRunner(launch, settings, dataset));
  if (any_error(launch, runner->open(options, planned, std::move(manifest), run_id))) return nullptr;
  runner->path_ = mpi::broadcast(launch.world, runner->directory(), 0);
  runner->tables_.run_id = mpi::broadcast(launch.world, runner->tables_.run_id, 0);
  if (settings.trace && any_error(launch, runner->open_rank_file(planned))) return nullptr;
  return runner;
}

std::optional<Error> TrialRunner::open(const Options& options, const std::vector<PlannedTrial>& planned,
                                       nlohmann::json manifest, const std::string& run_id) {
  if (!launch_.speaks()) return std::nullopt;
  const std::string& name = settings_.name.empty() ? run_id : settings_.name;
  auto directory = RunDirectory::create(settings_.results, name, options);
  if (!directory) return directory.error();
  directory_ = std::move(directory).value();
  manifest_ = std::move(manifest);
  directory_->write_manifest(manifest_);
  tables_.run_id = directory_->id();
  tables_.command = options.command == Command::train ? "train" : "compare";
  tables_.model = settings_.model.name;
  tables_.data = dataset_.source;
  tables_.validity = launch_.validity.text();
  tables_.manifest = manifest_.dump();
  tables_.ranks = launch_.world.size();
  tables_.inventory = inventory_rows(settings_.model.inventory);
  for (std::size_t i = 0; i < planned.size(); ++i)
    record_plan(static_cast<std::uint16_t>(i), planned[i], tables_.roles);
  trace::write_run_file(directory_->path(), tables_, false);
  if (settings_.trace) std::filesystem::create_directories(directory_->path() + "/ranks/part-0001");
  return std::nullopt;
}

std::optional<Error> TrialRunner::open_rank_file(const std::vector<PlannedTrial>& planned) {
  const Rank rank = launch_.world.rank();
  const auto place = static_cast<std::size_t>(rank);
  const auto [role, index] = role_of(roles_of(planned.front().config, launch_.topology), rank);
  trace::RankInfo info;
  info.run_id = tables_.run_id;
  info.rank = rank;
  info.role = planned.size() == 1 ? role : "varies";
  info.role_index = planned.size() == 1 ? index : -1;
  info.host = launch_.topology.host_of_rank[place];
  info.node = launch_.topology.node_of_rank[place];
  info.local_rank = launch_.topology.local_rank;
  info.validity = launch_.validity.text();
  info.epoch_unix_ns = recorder_.epoch_unix_ns();
  info.offset = mpi::measure_clock_offset(launch_.world, [this] { return recorder_.now_ns(); });
  info.trials = static_cast<int>(planned.size());
  if (planned.size() == 1) set_log_name(fmt::format("rank {} {} {}", rank, role, index));
  auto file = trace::RankFile::create(path_ + "/" + trace::rank_file_name(rank), info);
  if (!file) return file.error();
  recorder_.attach(std::move(file).value(), settings_.flush_seconds);
  return std::nullopt;
}

trace::TrialRow TrialRunner::trial_row(std::uint16_t id, const PlannedTrial& trial) const {
  const TrialConfig& c = trial.config;
  const bool ps = c.mode == "ps";
  trace::TrialRow row{};
  row.id = id;
  row.mode = text<16>(c.mode);
  row.collective = text<32>(ps ? "" : c.collective);
  row.wire = text<8>(c.wire);
  row.sharded_optimizer = !ps && c.sharded_optimizer ? 1 : 0;
  row.placement = text<64>(ps ? c.placement : "");
  row.consistency = text<16>(ps ? c.consistency : "");
  row.staleness_policy = text<16>(ps ? c.staleness_policy : "");
  row.max_lag = ps && c.consistency == "ssp" ? c.consistency_options.max_lag : 0;
  row.backup_workers = ps ? c.consistency_options.backup_workers : 0;
  if (ps && (c.staleness_policy == "drop" || c.staleness_policy == "cost_aware"))
    row.on_drop = text<16>(c.staleness_options.recompute ? "recompute" : "skip");
  row.max_staleness = ps && c.staleness_policy == "drop" ? c.staleness_options.max_staleness : 0;
  row.servers = ps ? c.servers : 0;
  row.workers = static_cast<std::int32_t>(roles_of(c, launch_.topology).workers.size());
  row.seed = c.seed;
  row.repeat = trial.repeat;
  row.order = trial.order;
  row.status = text<16>("planned");
  row.label = text<64>(trial.label);
  row.steps = c.steps;
  row.warmup = trial.warmup;
  row.batch = static_cast<std::int64_t>(c.global_batch);
  row.confirmation = trial.confirmation ? 1 : 0;
  row.slow = text<256>(c.injection.text());
  return row;
}

void TrialRunner::record_plan(std::uint16_t id, const PlannedTrial& trial,
                              std::vector<trace::RoleRow>& roles) {
  if (id < tables_.trials.size()) return;
  tables_.trials.push_back(trial_row(id, trial));
  const Roles who = roles_of(trial.config, launch_.topology);
  for (Rank rank = 0; rank < launch_.world.size(); ++rank) {
    const auto [role, index] = role_of(who, rank);
    roles.push_back({id, rank, text<8>(role), index});
  }
  for (trace::PlacementRow row :
       find_mode(trial.config.mode).value()->placement(trial.config, settings_.model)) {
    row.trial = id;
    tables_.placement.push_back(row);
  }
}

TrialResult TrialRunner::run(const PlannedTrial& trial, Progress& progress, double share_before,
                             double share) {
  const std::uint16_t id = next_++;
  const Roles roles = roles_of(trial.config, launch_.topology);
  const auto [role, index] = role_of(roles, launch_.world.rank());
  const auto workers = launch_.world.split(role == "worker" ? 0 : -1);
  const bool ps = trial.config.mode == "ps";
  recorder_.begin_trial(id, trial.config.steps, ps ? static_cast<int>(roles.workers.size()) : 0);
  const auto show = [&](Step done) {
    if (!launch_.speaks() || !progress.due()) return;
    const double part = static_cast<double>(done) / static_cast<double>(trial.config.steps);
    progress.show(fmt::format("{}: step {}/{}", trial.label, done, trial.config.steps),
                  share_before + part * share);
  };
  Session session{trial.config,    roles,   settings_.model,  dataset_,     launch_.world, launch_.pushes,
                  launch_.replies, workers, launch_.topology, launch_.wait, recorder_,     show};
  trace::TrialRow row{};
  if (launch_.speaks()) {
    record_plan(id, trial, tables_.roles);
    row = tables_.trials[id];
  }
  row.begin = recorder_.now_ns();
  const CoreTimes cores = core_times();
  run_session(session);
  // Ranks without work leave the cores to those that have some.
  mpi::barrier(launch_.world, role == "idle" ? mpi::Wait::sleep : launch_.wait);
  row.end = recorder_.now_ns();
  row.begin += mpi::greatest(launch_.world, session.choosing_ns);
  row.transport = text<16>(session.transport);
  row.aggregate = text<8>(session.aggregate);
  TrialResult result;
  result.stopped = mpi::greatest(launch_.world, session.stopped ? 1 : 0) != 0;
  // Rank 0 may be idle; the first worker tells what was chosen.
  result.collective_choices = nlohmann::json::parse(mpi::broadcast(
      launch_.world, choices_json(session.collective_choices).dump(), session.roles.workers.front()));
  if (!result.collective_choices.empty())
    manifest_["collective_choices"].push_back({{"trial", id}, {"buckets", result.collective_choices}});
  result.bucket_rebuilds = mpi::greatest(launch_.world, session.bucket_rebuilds);
  if (result.bucket_rebuilds > 0) manifest_["bucket_rebuilds"].push_back({{"trial", id}});
  result.drops_heard = static_cast<std::int64_t>(mpi::sum(launch_.world, static_cast<double>(session.drops)));
  result.data.final.core_busy = busiest(cores, core_times());
  collect(session, row, result);
  return result;
}

double TrialRunner::busiest(const CoreTimes& before, const CoreTimes& after) const {
  constexpr double kParts = 1e6;
  return static_cast<double>(
             mpi::greatest(launch_.world, static_cast<std::int64_t>(kParts * busy_share(before, after)))) /
         kParts;
}

std::vector<trace::EvaluationRow> TrialRunner::collect_evaluations(Session& session) const {
  std::vector<trace::EvaluationRow> rows;
  if (!session.workers.empty())
    for (const EvaluationPart& part : session.evaluations)
      rows.push_back(combined(session, recorder_.trial(), part));
  // Rank 0 may be a server; the first worker tells all.
  std::string bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(trace::EvaluationRow));
  bytes = mpi::broadcast(launch_.world, bytes, session.roles.workers.front());
  rows.resize(bytes.size() / sizeof(trace::EvaluationRow));
  if (!bytes.empty()) std::memcpy(static_cast<void*>(rows.data()), bytes.data(), bytes.size());
  return rows;
}

void TrialRunner::collect(Session& session, trace::TrialRow row, TrialResult& result) {
  const auto evaluations = collect_evaluations(session);
  mpi::broadcast(launch_.world, std::as_writable_bytes(std::span(&session.parameter_hash, 1)),
                 session.roles.workers.front());
  const auto divergence = earliest(launch_.world, session.divergence);
  const std::int64_t overhead_ns = mpi::greatest(launch_.world, recorder_.overhead_ns());
  auto ranks = trace::gather_trial(launch_.world, recorder_);
  if (!launch_.speaks()) return;
  for (std::size_t i = 0; i < ranks.size(); ++i)
    std::tie(ranks[i].role, ranks[i].role_index) = role_of(session.roles, static_cast<Rank>(i));
  result.data = {row, std::move(ranks), evaluations, result.data.final};
  trace::FinalRow& final = result.data.final;
  final.trial = row.id;
  final.parameter_hash = session.parameter_hash;
  final.trace_overhead =
      static_cast<double>(overhead_ns) / static_cast<double>(std::max<std::int64_t>(row.end - row.begin, 1));
  final.evaluate_every = session.config.evaluate_every;
  final.target_accuracy = session.config.target_accuracy;
  final.diverged_step = divergence ? divergence->step : -1;
  final.diverged_tensor = text<96>(divergence ? divergence->tensor : "");
  result.summary = trace::summarise(result.data);
  final.time_to_target_s = result.summary.target.time_s;
  final.target_step = result.summary.target.step;
  final.images_per_s = result.summary.images_per_s;
  final.loss = result.summary.loss;
  final.accuracy = result.summary.accuracy;
  result.data.row.status = text<16>(result.summary.diverged ? "diverged"
                                    : result.stopped        ? "stopped"
                                                            : "done");
  tables_.trials[row.id] = result.data.row;
  tables_.evaluation.insert(tables_.evaluation.end(), evaluations.begin(), evaluations.end());
  tables_.final.push_back(final);
  const auto summary = trace::summary_rows(row.id, result.summary);
  tables_.summary.insert(tables_.summary.end(), summary.begin(), summary.end());
  summary_lines_.push_back(summary_line(result.data.row, result));
}

void TrialRunner::finish(int exit_status) {
  mpi::ClockOffset at_end;
  if (settings_.trace)
    at_end = mpi::measure_clock_offset(launch_.world, [this] { return recorder_.now_ns(); });
  recorder_.close(at_end);
  mpi::barrier(launch_.world, launch_.wait);
  if (!launch_.speaks()) return;
  manifest_["end"] = time_stamp();
  manifest_["exit_status"] = exit_status;
  directory_->write_manifest(manifest_);
  tables_.manifest = manifest_.dump();
  tables_.exit_status = exit_status;
  // Planned trials that never ran (a comparison may end early) stay in the table as planned.
  trace::write_run_file(directory_->path(), tables_, settings_.trace);
  std::vector<std::string> lines{kSummaryHead + staleness_csv_head()};
  lines.insert(lines.end(), summary_lines_.begin(), summary_lines_.end());
  directory_->write_summary(lines);
  if (exit_status != kStopped) directory_->finish();
}

}  // namespace steelyard::cli
