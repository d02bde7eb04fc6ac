#include "src/trace/rank_file.hpp"

namespace steelyard::trace {
namespace {

// A chunk holds about 100 KB of rows: large enough to compress, small enough that a partial one, which every
// flush writes anew, is cheap.
constexpr std::size_t kChunkBytes = 100'000;

Handle latest_format() {
  Handle access = checked({H5Pcreate(H5P_FILE_ACCESS), H5Pclose}, "make properties");
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "set the format");
  return access;
}

void write_offset(hid_t file, const char* when, const mpi::ClockOffset& offset) {
  const std::string suffix = when;
  write_number(file, ("clock_offset" + suffix + "_ns").c_str(), offset.offset_ns);
  write_number(file, ("clock_error" + suffix + "_ns").c_str(), offset.error_ns);
}

void write_info(hid_t file, const RankInfo& info) {
  write_text(file, "format", "steelyard-rank");
  write_number(file, "version", 1);
  write_text(file, "run_id", info.run_id);
  write_number(file, "rank", info.rank);
  write_text(file, "role", info.role);
  write_number(file, "role_index", info.role_index);
  write_text(file, "host", info.host);
  write_number(file, "node", info.node);
  write_number(file, "local_rank", info.local_rank);
  write_text(file, "device", info.device);
  write_text(file, "backend", info.backend);
  write_text(file, "validity", info.validity);
  write_number(file, "epoch_unix_ns", info.epoch_unix_ns);
  write_offset(file, "", info.offset);
  write_number(file, "trials", info.trials);
}

}  // namespace

Expected<std::unique_ptr<RankFile>> RankFile::create(const std::string& path, const RankInfo& info) {
  silence();
  std::unique_ptr<RankFile> self(new RankFile(path));
  const Handle access = latest_format();
  self->file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access.id()), H5Fclose);
  if (!self->file_.valid()) return Error{"trace file " + path + " cannot be created: " + last_reason()};
  write_info(self->file_.id(), info);
  for (const Table* table : rank_tables())
    self->datasets_.push_back(create_table(self->file_.id(), *table, kChunkBytes / table->row_bytes));
  check(H5Fstart_swmr_write(self->file_.id()), "start single-writer mode");
  return self;
}

void RankFile::append(const Table& table, const void* rows, std::size_t count) {
  const auto tables = rank_tables();
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (tables[i] == &table) append_rows(datasets_[i].id(), table, rows, count);
}

void RankFile::flush() {
  for (const Handle& dataset : datasets_) check(H5Dflush(dataset.id()), "flush " + path_);
}

void RankFile::close(const mpi::ClockOffset& at_end) {
  datasets_.clear();
  if (!file_.reset()) die("HDF5 cannot close " + path_ + ": " + last_reason());
  // Attributes cannot be added in single-writer mode.
  const Handle access = latest_format();
  Handle file = checked({H5Fopen(path_.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose}, "open " + path_);
  write_offset(file.id(), "_at_end", at_end);
  if (!file.reset()) die("HDF5 cannot close " + path_ + ": " + last_reason());
}

}  // namespace steelyard::trace
