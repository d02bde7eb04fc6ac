#pragma once

/// @file
/// The little of HDF5 that traces need. One thread makes all calls: the library here is not thread-safe.

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/check.hpp"
#include "src/trace/rows.hpp"

namespace steelyard::trace {

/// Owns one HDF5 identifier. An invalid one may be held and asked for; using it is an error.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() { reset(); }

  /// @return whether closing worked; a file's last bytes are written here.
  bool reset() {
    if (id_ < 0) return true;
    return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }
  bool valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// Dies with the library's own innermost reason unless `result` is non-negative.
void check(herr_t result, std::string_view what, Where where = {});
/// @return `handle`, which must be valid; dies as above.
Handle checked(Handle handle, std::string_view what, Where where = {});
/// Innermost reason on the library's error stack, "" where there is none.
std::string last_reason();
/// Stops the library from printing its error stack.
void silence();

/// The compound type of a row: with the padding of memory, or packed as in files.
Handle row_type(const Table& table, bool packed);

/// New one-dimensional, extendible, chunked dataset, shuffled and deflated (level 1).
Handle create_table(hid_t file, const Table& table, hsize_t chunk_rows);
/// Adds `count` rows at the end.
void append_rows(hid_t dataset, const Table& table, const void* rows, std::size_t count);
hsize_t row_count(hid_t dataset);
/// Whether the rows and chunks that a table claims could come out of the bytes that it has in the file; a
/// missing table does. Ask before reading a file that is not trusted: claims cost nothing, rows cost memory.
bool claims_can_hold(hid_t file, const Table& table);

/// A whole dataset written at once; `rows` may be empty.
template <typename Row>
void write_table(hid_t file, const std::vector<Row>& rows) {
  const Handle dataset = create_table(file, table<Row>(), 1024);
  append_rows(dataset.id(), table<Row>(), rows.data(), rows.size());
}

/// All rows of a dataset; empty where it is missing. Fields that the file lacks stay zero.
template <typename Row>
std::vector<Row> read_table(hid_t file);
/// Byte-level part of read_table. @return whether the dataset is there and could be read.
bool read_rows(hid_t file, const Table& table, std::vector<std::byte>& bytes);

void write_text(hid_t object, const char* name, std::string_view value);
void write_number(hid_t object, const char* name, std::int64_t value);
void write_numbers(hid_t object, const char* name, const std::vector<std::int64_t>& values);
std::string read_text(hid_t object, const char* name);
std::int64_t read_number(hid_t object, const char* name, std::int64_t missing);

template <typename Row>
std::vector<Row> read_table(hid_t file) {
  std::vector<std::byte> bytes;
  if (!read_rows(file, table<Row>(), bytes)) return {};
  std::vector<Row> rows(bytes.size() / sizeof(Row));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(rows.data()));
  return rows;
}

}  // namespace steelyard::trace
