#include "src/trace/reader.hpp"

#include <algorithm>
#include <filesystem>

#include "src/trace/hdf5.hpp"

namespace steelyard::trace {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRanks = 1 << 20;

/// Whatever a file claims is held against what it can hold before memory is taken for it.
Status check_claims(hid_t file, std::span<const Table* const> tables, const std::string& path) {
  for (const Table* table : tables)
    if (!claims_can_hold(file, *table))
      return Error{path + " claims more rows of /" + table->name +
                   " than its bytes can hold; it is damaged, or no run of ours"};
  return success();
}

/// Every trial says what each rank plays, so the roles bound the trials and the ranks.
Status check_trials(const RunTables& tables, const std::string& path) {
  const std::size_t trials = tables.trials.size();
  for (const TrialRow& row : tables.trials)
    if (row.id >= trials)
      return Error{path + " has a trial " + std::to_string(row.id) + " among " + std::to_string(trials)};
  if (trials * static_cast<std::size_t>(tables.ranks) <= tables.roles.size()) return success();
  return Error{path + " has the roles of " + std::to_string(tables.roles.size()) + " ranks for " +
               std::to_string(trials) + " trials of " + std::to_string(tables.ranks) + " ranks"};
}

enum class Extent { summary, whole };

Status read_tables(const std::string& path, Extent extent, RunTables& tables) {
  const Handle file({H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose});
  if (!file.valid()) return Error{path + " cannot be read as HDF5: " + last_reason()};
  if (read_text(file.id(), "format") != "steelyard-run")
    return Error{path + " is not the run.h5 of a Steelyard run"};
  const std::int64_t version = read_number(file.id(), "version", 0);
  if (version != 1)
    return Error{path + " has trace format version " + std::to_string(version) + "; this program reads 1"};
  const std::int64_t ranks = read_number(file.id(), "ranks", 0);
  if (ranks < 1 || ranks > kMostRanks)
    return Error{path + " says it has " + std::to_string(ranks) + " ranks"};
  static const std::array kTables = {&table<TrialRow>(),     &table<RoleRow>(),       &table<TensorRow>(),
                                     &table<PlacementRow>(), &table<EvaluationRow>(), &table<FinalRow>(),
                                     &table<SummaryRow>()};
  if (auto good = check_claims(file.id(), kTables, path); !good) return good.error();
  tables.ranks = static_cast<int>(ranks);
  tables.exit_status = static_cast<int>(read_number(file.id(), "exit_status", -1));
  tables.run_id = read_text(file.id(), "run_id");
  tables.command = read_text(file.id(), "command");
  tables.model = read_text(file.id(), "model");
  tables.data = read_text(file.id(), "data");
  tables.validity = read_text(file.id(), "validity");
  tables.trials = read_table<TrialRow>(file.id());
  tables.roles = read_table<RoleRow>(file.id());
  tables.manifest = read_text(file.id(), "manifest");
  if (extent == Extent::whole) {
    tables.inventory = read_table<TensorRow>(file.id());
    tables.placement = read_table<PlacementRow>(file.id());
  }
  tables.evaluation = read_table<EvaluationRow>(file.id());
  tables.final = read_table<FinalRow>(file.id());
  tables.summary = read_table<SummaryRow>(file.id());
  return check_trials(tables, path);
}

/// A file that its writer has closed opens as it is; one left behind by a kill, or still being written, opens
/// for a reader beside a writer. @param[out] unclosed which of the two.
Handle open_rank_file(const std::string& path, bool& unclosed) {
  Handle file({H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose});
  unclosed = !file.valid();
  if (unclosed)
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT), H5Fclose);
  return file;
}

template <typename Row>
void deal(hid_t file, int rank, std::vector<TrialData>& trials, std::vector<Row> RankTrial::*where) {
  for (const Row& row : read_table<Row>(file))
    if (row.trial < trials.size())
      (trials[row.trial].ranks[static_cast<std::size_t>(rank)].*where).push_back(row);
}

/// Of drops and reads the trials take sums.
void tally(hid_t file, std::size_t rank, std::vector<TrialData>& trials) {
  for (const DropRow& row : read_table<DropRow>(file))
    if (row.trial < trials.size()) count_drop(trials[row.trial].ranks[rank].drops, row);
  for (const ReadRow& row : read_table<ReadRow>(file))
    if (row.trial < trials.size()) sum_read(trials[row.trial].ranks[rank].reads, row);
}

void read_rank(RunData& run, int rank) {
  const std::string name = rank_file_name(rank);
  bool unclosed = false;
  const Handle file = open_rank_file(run.directory + "/" + name, unclosed);
  if (!file.valid() || !check_claims(file.id(), rank_tables(), name)) {
    run.missing.push_back(name);
    return;
  }
  if (unclosed) run.unclosed.push_back(name);
  deal(file.id(), rank, run.trials, &RankTrial::steps);
  deal(file.id(), rank, run.trials, &RankTrial::loads);
  deal(file.id(), rank, run.trials, &RankTrial::stalenesses);
  tally(file.id(), static_cast<std::size_t>(rank), run.trials);
}

void make_trials(RunData& run) {
  const RunTables& tables = run.tables;
  const std::size_t trials = tables.trials.size();
  run.trials.resize(trials);
  for (TrialData& trial : run.trials) trial.ranks.resize(static_cast<std::size_t>(tables.ranks));
  for (const TrialRow& row : tables.trials) run.trials[row.id].row = row;
  for (const RoleRow& row : tables.roles) {
    if (row.trial >= trials || row.rank < 0 || row.rank >= tables.ranks) continue;
    RankTrial& rank = run.trials[row.trial].ranks[static_cast<std::size_t>(row.rank)];
    rank.role = std::string(view(row.role));
    rank.role_index = row.role_index;
  }
  for (const EvaluationRow& row : tables.evaluation)
    if (row.trial < trials) run.trials[row.trial].evaluations.push_back(row);
  for (const FinalRow& row : tables.final)
    if (row.trial < trials) run.trials[row.trial].final = row;
}

Status open_run(const std::string& directory, Extent extent, RunTables& tables, bool& complete) {
  silence();
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return Error{"run '" + directory + "' is not a directory"};
  if (!fs::exists(directory + "/run.h5", ignored))
    return Error{"'" + directory + "' is not a run directory: it has no run.h5"};
  complete = fs::exists(directory + "/done", ignored);
  return read_tables(directory + "/run.h5", extent, tables);
}

}  // namespace

Expected<RunTables> read_run_tables(const std::string& directory) {
  RunTables tables;
  bool complete = false;
  if (auto opened = open_run(directory, Extent::whole, tables, complete); !opened) return opened.error();
  return tables;
}

Expected<RunSummary> read_summary(const std::string& directory) {
  RunSummary run;
  run.directory = directory;
  if (auto opened = open_run(directory, Extent::summary, run.tables, run.complete); !opened)
    return opened.error();
  return run;
}

Expected<RunData> read_run(const std::string& directory) {
  std::error_code ignored;
  RunData run;
  run.directory = directory;
  if (auto opened = open_run(directory, Extent::whole, run.tables, run.complete); !opened)
    return opened.error();
  make_trials(run);
  // A run without trace has no rank files at all, and that is no fault.
  if (!fs::exists(directory + "/ranks", ignored)) return run;
  for (int rank = 0; rank < run.tables.ranks; ++rank) read_rank(run, rank);
  return run;
}

}  // namespace steelyard::trace
