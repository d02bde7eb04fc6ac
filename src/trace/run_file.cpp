#include "src/trace/run_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "src/trace/hdf5.hpp"

namespace steelyard::trace {
namespace {

std::int64_t rows_in(const std::string& path, const Table& table) {
  const Handle file({H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose});
  if (!file.valid()) return 0;
  const Handle dataset({H5Dopen2(file.id(), table.name, H5P_DEFAULT), H5Dclose});
  return dataset.valid() ? static_cast<std::int64_t>(row_count(dataset.id())) : 0;
}

/// A dataset that is rank 0's rows, then rank 1's, and so on. Where each rank's begin and how many there are
/// stand beside it, because a virtual dataset over a missing file reads as zeros.
void join_table(hid_t file, const std::string& directory, int ranks, const Table& table) {
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> rows;
  std::int64_t total = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    start.push_back(total);
    rows.push_back(rows_in(directory + "/" + rank_file_name(rank), table));
    total += rows.back();
  }
  const Handle type = row_type(table, true);
  const auto extent = static_cast<hsize_t>(total);
  const Handle space = checked({H5Screate_simple(1, &extent, nullptr), H5Sclose}, "make a space");
  const Handle create = checked({H5Pcreate(H5P_DATASET_CREATE), H5Pclose}, "make properties");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == 0) continue;
    const auto begin = static_cast<hsize_t>(start[i]);
    const auto count = static_cast<hsize_t>(rows[i]);
    const Handle part = checked({H5Screate_simple(1, &count, nullptr), H5Sclose}, "make a space");
    check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr), "select rows");
    check(H5Pset_virtual(create.id(), space.id(), rank_file_name(static_cast<int>(i)).c_str(), table.name,
                         part.id()),
          "map a rank file");
  }
  check(H5Sselect_all(space.id()), "select all rows");
  const Handle dataset = checked(
      {H5Dcreate2(file, table.name, type.id(), space.id(), H5P_DEFAULT, create.id(), H5P_DEFAULT), H5Dclose},
      std::string("create virtual dataset /") + table.name);
  write_numbers(dataset.id(), "rank_start", start);
  write_numbers(dataset.id(), "rank_rows", rows);
}

}  // namespace

std::string rank_file_name(int rank) { return fmt::format("ranks/part-0001/rank-{:05d}.h5", rank); }

void write_run_file(const std::string& directory, const RunTables& tables, bool join) {
  silence();
  const std::string path = directory + "/run.h5";
  const std::string fresh = path + ".new";
  const Handle access = checked({H5Pcreate(H5P_FILE_ACCESS), H5Pclose}, "make properties");
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "set the format");
  Handle file = checked({H5Fcreate(fresh.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose},
                        "create " + fresh);
  write_text(file.id(), "format", "steelyard-run");
  write_number(file.id(), "version", 1);
  write_text(file.id(), "run_id", tables.run_id);
  write_text(file.id(), "command", tables.command);
  write_text(file.id(), "model", tables.model);
  write_text(file.id(), "data", tables.data);
  write_text(file.id(), "manifest", tables.manifest);
  write_text(file.id(), "validity", tables.validity);
  write_number(file.id(), "ranks", tables.ranks);
  write_number(file.id(), "exit_status", tables.exit_status);
  write_table(file.id(), tables.trials);
  write_table(file.id(), tables.roles);
  write_table(file.id(), tables.inventory);
  write_table(file.id(), tables.placement);
  write_table(file.id(), tables.evaluation);
  write_table(file.id(), tables.final);
  write_table(file.id(), tables.summary);
  if (join)
    for (const Table* table : rank_tables()) join_table(file.id(), directory, tables.ranks, *table);
  if (!file.reset()) die("HDF5 cannot close " + fresh + ": " + last_reason());
  std::filesystem::rename(fresh, path);
}

}  // namespace steelyard::trace
