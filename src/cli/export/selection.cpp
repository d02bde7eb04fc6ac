#include "src/cli/export/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "src/trace/reader.hpp"

namespace steelyard::cli {
namespace {

using trace::view;

bool parse_step(std::string_view text, std::int64_t& step) {
  if (text.empty()) return true;  // As it is.
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), step);
  return code == std::errc() && rest == text.data() + text.size() && step >= 0;
}

}  // namespace

Expected<Selection> selection_of(const Options& options, const trace::RunTables& tables) {
  Selection selection;
  if (const std::string& trial = options.text("trial"); !trial.empty()) {
    selection.trial = static_cast<int>(options.integer("trial"));
    if (static_cast<std::size_t>(selection.trial) >= tables.trials.size())
      return Error{fmt::format("--trial {}: the run has {} trial(s), from 0 to {}", trial,
                               tables.trials.size(), tables.trials.size() - 1)};
  }
  const std::string& steps = options.text("steps");
  if (steps.empty()) return selection;
  const std::size_t colon = steps.find(':');
  const std::string_view all(steps);
  if (colon == std::string::npos || !parse_step(all.substr(0, colon), selection.begin) ||
      !parse_step(all.substr(colon + 1), selection.end) || selection.begin >= selection.end)
    return Error{
        fmt::format("--steps '{}': must be A:B, the steps from A on and before B, A less than B; either "
                    "may be left out, as in 100:",
                    steps)};
  return selection;
}

Expected<ExportedRun> open_exported(const Options& options) {
  ExportedRun run;
  run.directory = options.target;
  auto tables = trace::read_run_tables(run.directory);
  if (!tables) return tables.error();
  run.tables = std::move(tables).value();
  if (run.tables.trials.empty())
    return Error{fmt::format("run '{}' names no trial in its run.h5", run.directory)};
  auto selection = selection_of(options, run.tables);
  if (!selection) return selection.error();
  run.selection = selection.value();
  std::error_code ignored;
  for (int rank = 0; rank < run.tables.ranks; ++rank) {
    if (!std::filesystem::exists(run.directory + "/" + trace::rank_file_name(rank), ignored)) continue;
    const auto file = open_rank(run, rank);
    if (!file) return file.error();
    const std::int64_t begin_ns = file.value().alignment()(0);
    run.base_ns = run.ranks.empty() ? begin_ns : std::min(run.base_ns, begin_ns);
    if (rank == 0) run.epoch_unix_ns = file.value().epoch_unix_ns();
    run.ranks.push_back(rank);
  }
  if (run.ranks.empty())
    return Error{
        fmt::format("run '{}' has no trace to export: it was made with --trace off, or its ranks/ is "
                    "not there",
                    run.directory)};
  return run;
}

Expected<trace::RankReader> open_rank(const ExportedRun& run, int rank) {
  return trace::RankReader::open(run.directory + "/" + trace::rank_file_name(rank));
}

std::string role_text(const ExportedRun& run, int rank) {
  std::set<std::string> roles;
  for (const trace::RoleRow& row : run.tables.roles)
    if (row.rank == rank && run.selection.holds(row.trial))
      roles.insert(fmt::format("{} {}", view(row.role), row.role_index));
  return roles.size() == 1 ? *roles.begin() : fmt::format("rank {}", rank);
}

std::string tensor_of(const ExportedRun& run, std::uint16_t trial, std::int32_t shard) {
  // Rows of a trial lie together, shard by shard.
  const auto& rows = run.tables.placement;
  const auto found = std::ranges::lower_bound(
      rows, std::pair(trial, shard), {},
      [](const trace::PlacementRow& row) { return std::pair(row.trial, row.shard); });
  if (shard < 0 || found == rows.end() || found->trial != trial || found->shard != shard) return "";
  const auto tensor = static_cast<std::size_t>(found->tensor);
  return tensor < run.tables.inventory.size() ? std::string(view(run.tables.inventory[tensor].name)) : "";
}

}  // namespace steelyard::cli
