#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/cli/export/selection.hpp"

namespace steelyard::cli {
namespace {

using trace::Field;
using trace::Kind;
using trace::Table;

template <typename T>
T value_at(const std::byte* row, const Field& field) {
  T value{};
  std::memcpy(&value, row + field.offset, sizeof value);
  return value;
}

/// As RFC 4180 quotes it.
std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

template <std::size_t N>
std::string name_of(const std::array<std::string_view, N>& names, std::uint8_t value) {
  return value < N ? std::string(names[value]) : fmt::format("{}", value);
}

std::string cell(const std::byte* row, const Field& field) {
  switch (field.kind) {
    case Kind::u8:
      return fmt::format("{}", value_at<std::uint8_t>(row, field));
    case Kind::u16:
      return fmt::format("{}", value_at<std::uint16_t>(row, field));
    case Kind::u32:
      return fmt::format("{}", value_at<std::uint32_t>(row, field));
    case Kind::u64:
      return fmt::format("{}", value_at<std::uint64_t>(row, field));
    case Kind::i32:
      return fmt::format("{}", value_at<std::int32_t>(row, field));
    case Kind::i64:
      return fmt::format("{}", value_at<std::int64_t>(row, field));
    case Kind::f32:
      return fmt::format("{}", value_at<float>(row, field));
    case Kind::f64:
      return fmt::format("{}", value_at<double>(row, field));
    case Kind::phase:
      return name_of(trace::kPhaseNames, value_at<std::uint8_t>(row, field));
    case Kind::drop_reason:
      return name_of(trace::kDropReasonNames, value_at<std::uint8_t>(row, field));
    case Kind::text: {
      const std::string_view whole(reinterpret_cast<const char*>(row) + field.offset, field.size);
      return quoted(whole.substr(0, whole.find('\0')));
    }
  }
  return "";
}

const Field* field_of(const Table& table, std::string_view name, Kind kind) {
  const auto found = std::ranges::find_if(
      table.fields, [&](const Field& field) { return name == field.name && field.kind == kind; });
  return found == table.fields.end() ? nullptr : &*found;
}

/// Points in time on a rank's own clock; every other time is a duration.
bool is_moment(const Field& field) {
  const std::string_view name(field.name);
  return field.kind == Kind::i64 && (name == "begin_ns" || name == "end_ns" || name == "time_ns");
}

/// One dataset as a file. Of rows with a trial only those that are selected are written, and of rows that
/// belong to a step of a worker those of the steps.
class CsvFile {
 public:
  CsvFile(const ExportedRun& run, const std::string& directory, const Table& table, bool by_rank)
      : run_(run),
        table_(table),
        path_(directory + "/" + table.name + ".csv"),
        out_(path_, std::ios::binary),
        trial_(field_of(table, "trial", Kind::u16)),
        step_(field_of(table, "window", Kind::u32) != nullptr ? nullptr
                                                              : field_of(table, "step", Kind::i64)) {
    if (trial_ == nullptr) trial_ = field_of(table, "id", Kind::u16);
    out_ << (by_rank ? "rank," : "");
    for (const Field& field : table.fields) out_ << (&field == table.fields.data() ? "" : ",") << field.name;
    out_ << "\n";
  }

  /// @param first what stands before the row. @param align from the row's clock to rank 0's.
  void add(std::span<const std::byte> rows, const std::string& first, const trace::Alignment& align) {
    for (std::size_t at = 0; at + table_.row_bytes <= rows.size(); at += table_.row_bytes) {
      const std::byte* row = rows.data() + at;
      if (!selected(row)) continue;
      line_ = first;
      for (const Field& field : table_.fields) {
        if (&field != table_.fields.data()) line_ += ',';
        if (is_moment(field))
          fmt::format_to(std::back_inserter(line_), "{}", align(value_at<std::int64_t>(row, field)));
        else
          line_ += cell(row, field);
      }
      line_ += '\n';
      out_ << line_;
    }
  }

  Status close() {
    out_.close();
    return out_ ? success() : Status(Error{path_ + " cannot be written: " + std::strerror(errno)});
  }

 private:
  bool selected(const std::byte* row) const {
    if (trial_ == nullptr) return true;
    const auto trial = value_at<std::uint16_t>(row, *trial_);
    return step_ == nullptr ? run_.selection.holds(trial)
                            : run_.selection.holds(trial, value_at<std::int64_t>(row, *step_));
  }

  const ExportedRun& run_;
  const Table& table_;
  std::string path_;
  std::ofstream out_;
  const Field* trial_;  ///< Null: the rows belong to the run.
  const Field* step_;   ///< Null: they do not belong to one step.
  std::string line_;
};

template <typename Row>
Status write_run_table(const ExportedRun& run, const std::string& directory, const std::vector<Row>& rows,
                       const trace::Alignment& align = {}) {
  CsvFile file(run, directory, trace::table<Row>(), false);
  file.add(std::as_bytes(std::span(rows)), "", align);
  return file.close();
}

/// Evaluations are timed on the clock of their trial's first worker.
Status write_evaluations(const ExportedRun& run, const std::string& directory) {
  CsvFile file(run, directory, trace::table<trace::EvaluationRow>(), false);
  for (const trace::EvaluationRow& row : run.tables.evaluation) {
    trace::Alignment align;
    for (const trace::RoleRow& role : run.tables.roles)
      if (role.trial == row.trial && role.role_index == 0 && trace::view(role.role) == "worker")
        if (const auto rank = open_rank(run, role.rank)) align = rank.value().alignment();
    file.add(std::as_bytes(std::span(&row, 1)), "", align);
  }
  return file.close();
}

Status write_rank_table(const ExportedRun& run, const std::string& directory, const Table& table) {
  CsvFile file(run, directory, table, true);
  for (const int rank : run.ranks) {
    const auto reader = open_rank(run, rank);
    if (!reader) return reader.error();
    const auto add = [&](std::span<const std::byte> rows) {
      file.add(rows, fmt::format("{},", rank), reader.value().alignment());
    };
    if (auto read = reader.value().read(table, add); !read) return read;
  }
  return file.close();
}

}  // namespace

Status write_csv(const ExportedRun& run, const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::create_directory(directory, error))
    return Error{"cannot be made: " + (error ? error.message() : std::string("it exists already"))};
  const auto write = [&](const auto&... rows) {
    Status status = write_evaluations(run, directory);
    ((status = status ? write_run_table(run, directory, rows) : status), ...);
    return status;
  };
  const trace::RunTables& t = run.tables;
  if (auto good = write(t.trials, t.roles, t.inventory, t.placement, t.final, t.summary); !good) return good;
  for (const Table* table : trace::rank_tables())
    if (auto written = write_rank_table(run, directory, *table); !written) return written;
  return success();
}

}  // namespace steelyard::cli
