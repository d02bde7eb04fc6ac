#include "src/trace/rank_reader.hpp"

#include <algorithm>

namespace steelyard::trace {
namespace {

Handle open_table(hid_t file, const Table& table) {
  if (H5Lexists(file, table.name, H5P_DEFAULT) <= 0) return {};
  return {H5Dopen2(file, table.name, H5P_DEFAULT), H5Dclose};
}

/// The last time that the file tells of.
std::int64_t last_time_ns(const RankReader& file) {
  std::int64_t end_ns = 0;
  const auto later = [&end_ns](const auto& row) { end_ns = std::max(end_ns, row.end_ns); };
  // What cannot be read to its end is told to whoever reads it for its own sake.
  static_cast<void>(file.each<StepRow>(later));
  static_cast<void>(file.each<LoadRow>(later));
  return end_ns;
}

}  // namespace

std::int64_t Alignment::operator()(std::int64_t time_ns) const {
  if (end_ns <= 0) return time_ns + offset_ns;
  // In long double nanoseconds of a hundred years are exact.
  // A time far beyond the run is no time of the run.
  const long double share =
      std::clamp(static_cast<long double>(time_ns) / static_cast<long double>(end_ns), -1.0L, 2.0L);
  const auto drift = static_cast<long double>(offset_at_end_ns - offset_ns);
  return time_ns + offset_ns + static_cast<std::int64_t>(share * drift);
}

Expected<RankReader> RankReader::open(const std::string& path) {
  silence();
  RankReader reader;
  reader.path_ = path;
  reader.file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  reader.unclosed_ = !reader.file_.valid();
  if (reader.unclosed_)
    reader.file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT), H5Fclose);
  const hid_t file = reader.file_.id();
  if (!reader.file_.valid()) return Error{path + " cannot be read as HDF5: " + last_reason()};
  if (read_text(file, "format") != "steelyard-rank")
    return Error{path + " is no rank file of a Steelyard run"};
  for (const Table* table : rank_tables())
    if (!claims_can_hold(file, *table))
      return Error{path + " claims more rows of /" + table->name + " than its bytes can hold; it is damaged"};
  reader.read_attributes();
  return reader;
}

void RankReader::read_attributes() {
  host_ = read_text(file_.id(), "host");
  node_ = static_cast<int>(read_number(file_.id(), "node", 0));
  epoch_unix_ns_ = read_number(file_.id(), "epoch_unix_ns", 0);
  alignment_.offset_ns = read_number(file_.id(), "clock_offset_ns", 0);
  alignment_.error_ns = read_number(file_.id(), "clock_error_ns", 0);
  if (H5Aexists(file_.id(), "clock_offset_at_end_ns") <= 0) return;
  alignment_.offset_at_end_ns = read_number(file_.id(), "clock_offset_at_end_ns", alignment_.offset_ns);
  alignment_.error_ns =
      std::max(alignment_.error_ns, read_number(file_.id(), "clock_error_at_end_ns", alignment_.error_ns));
  alignment_.end_ns = last_time_ns(*this);
}

std::size_t RankReader::count(const Table& table) const {
  const Handle dataset = open_table(file_.id(), table);
  return dataset.valid() ? row_count(dataset.id()) : 0;
}

Status RankReader::read(const Table& table,
                        const std::function<void(std::span<const std::byte>)>& use) const {
  const Handle dataset = open_table(file_.id(), table);
  if (!dataset.valid()) return success();  // Files of older programs lack some.
  const hsize_t rows = row_count(dataset.id());
  const Handle type = row_type(table, false);
  std::vector<std::byte> bytes(std::min<hsize_t>(rows, kRows) * table.row_bytes);
  for (hsize_t begin = 0; begin < rows; begin += kRows) {
    const hsize_t count = std::min<hsize_t>(rows - begin, kRows);
    const Handle memory({H5Screate_simple(1, &count, nullptr), H5Sclose});
    const Handle space({H5Dget_space(dataset.id()), H5Sclose});
    std::ranges::fill(bytes, std::byte{0});  // Fields that the file lacks stay zero.
    if (H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) < 0 ||
        H5Dread(dataset.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, bytes.data()) < 0)
      return Error{path_ + " cannot be read from row " + std::to_string(begin) + " of /" + table.name +
                   " on: " + last_reason()};
    use(std::span(bytes).first(count * table.row_bytes));
  }
  return success();
}

}  // namespace steelyard::trace
