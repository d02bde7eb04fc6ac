#include "src/trace/hdf5.hpp"

#include <algorithm>
#include <array>

namespace steelyard::trace {
namespace {

/// Values are places in `names`.
Handle enum_type(std::span<const std::string_view> names) {
  Handle type = checked({H5Tenum_create(H5T_NATIVE_UINT8), H5Tclose}, "make an enum type");
  for (std::uint8_t value = 0; value < names.size(); ++value)
    check(H5Tenum_insert(type.id(), std::string(names[value]).c_str(), &value), "name an enum's value");
  return type;
}

Handle text_type(std::size_t size) {
  Handle type = checked({H5Tcopy(H5T_C_S1), H5Tclose}, "make a text type");
  check(H5Tset_size(type.id(), size), "size a text type");
  check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "pad a text type");
  return type;
}

Handle copy_of(hid_t native) { return {H5Tcopy(native), H5Tclose}; }

Handle field_type(const Field& field) {
  switch (field.kind) {
    case Kind::u8:
      return copy_of(H5T_NATIVE_UINT8);
    case Kind::u16:
      return copy_of(H5T_NATIVE_UINT16);
    case Kind::u32:
      return copy_of(H5T_NATIVE_UINT32);
    case Kind::u64:
      return copy_of(H5T_NATIVE_UINT64);
    case Kind::i32:
      return copy_of(H5T_NATIVE_INT32);
    case Kind::i64:
      return copy_of(H5T_NATIVE_INT64);
    case Kind::f32:
      return copy_of(H5T_NATIVE_FLOAT);
    case Kind::f64:
      return copy_of(H5T_NATIVE_DOUBLE);
    case Kind::phase:
      return enum_type(kPhaseNames);
    case Kind::drop_reason:
      return enum_type(kDropReasonNames);
    case Kind::text:
      return text_type(field.size);
  }
  die("unknown kind of field");
}

/// Bytes of one row in the file and of one chunk (0 where there are none).
struct RowBytes {
  hsize_t row = 0;
  hsize_t chunk = 0;
};

RowBytes row_bytes_of(hid_t dataset) {
  const Handle type({H5Dget_type(dataset), H5Tclose});
  const Handle create({H5Dget_create_plist(dataset), H5Pclose});
  RowBytes bytes{type.valid() ? H5Tget_size(type.id()) : 0, 0};
  hsize_t rows = 0;
  if (create.valid() && H5Pget_layout(create.id()) == H5D_CHUNKED && H5Pget_chunk(create.id(), 1, &rows) == 1)
    bytes.chunk = rows * bytes.row;  // HDF5 keeps chunks below 4 GiB.
  return bytes;
}

/// Size of the file that the object is in.
hsize_t file_bytes(hid_t object) {
  const Handle file({H5Iget_file_id(object), H5Fclose});
  hsize_t bytes = 0;
  return file.valid() && H5Fget_filesize(file.id(), &bytes) >= 0 ? bytes : 0;
}

/// An attribute of one value, whatever its type.
Handle open_scalar(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  Handle attribute({H5Aopen(object, name, H5P_DEFAULT), H5Aclose});
  if (!attribute.valid()) return {};
  const Handle space({H5Aget_space(attribute.id()), H5Sclose});
  return space.valid() && H5Sget_simple_extent_npoints(space.id()) == 1 ? std::move(attribute) : Handle();
}

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* to) {
  if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
  return 0;
}

}  // namespace

std::string last_reason() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &reason);
  return reason;
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

void check(herr_t result, std::string_view what, Where where) {
  if (result < 0) die("HDF5 cannot " + std::string(what) + ": " + last_reason(), where);
}

Handle checked(Handle handle, std::string_view what, Where where) {
  if (!handle.valid()) die("HDF5 cannot " + std::string(what) + ": " + last_reason(), where);
  return handle;
}

Handle row_type(const Table& table, bool packed) {
  Handle type = checked({H5Tcreate(H5T_COMPOUND, table.row_bytes), H5Tclose}, "make a row type");
  for (const Field& field : table.fields)
    check(H5Tinsert(type.id(), field.name, field.offset, field_type(field).id()), "add a field");
  if (packed) check(H5Tpack(type.id()), "pack a row type");
  return type;
}

Handle create_table(hid_t file, const Table& table, hsize_t chunk_rows) {
  const hsize_t none = 0;
  const hsize_t unlimited = H5S_UNLIMITED;
  const Handle space = checked({H5Screate_simple(1, &none, &unlimited), H5Sclose}, "make a space");
  const Handle create = checked({H5Pcreate(H5P_DATASET_CREATE), H5Pclose}, "make properties");
  check(H5Pset_chunk(create.id(), 1, &chunk_rows), "set chunks");
  check(H5Pset_shuffle(create.id()), "set shuffle");
  check(H5Pset_deflate(create.id(), 1), "set deflate");
  return checked({H5Dcreate2(file, table.name, row_type(table, true).id(), space.id(), H5P_DEFAULT,
                             create.id(), H5P_DEFAULT),
                  H5Dclose},
                 std::string("create dataset /") + table.name);
}

hsize_t row_count(hid_t dataset) {
  const Handle space({H5Dget_space(dataset), H5Sclose});
  hsize_t rows = 0;
  if (!space.valid() || H5Sget_simple_extent_ndims(space.id()) != 1) return 0;
  H5Sget_simple_extent_dims(space.id(), &rows, nullptr);
  return rows;
}

bool claims_can_hold(hid_t file, const Table& table) {
  // Deflate makes at most 1032 bytes of one (its longest match, 258 bytes, takes two bits); nothing else that
  // our tables use expands. A virtual dataset keeps no bytes of its own, so it holds no table of ours.
  constexpr hsize_t kMostExpansion = 1032;
  if (H5Lexists(file, table.name, H5P_DEFAULT) <= 0) return true;
  const Handle dataset({H5Dopen2(file, table.name, H5P_DEFAULT), H5Dclose});
  if (!dataset.valid()) return false;
  const hsize_t rows = row_count(dataset.id());
  if (rows == 0) return true;
  const RowBytes bytes = row_bytes_of(dataset.id());
  const hsize_t kept = std::min(H5Dget_storage_size(dataset.id()), file_bytes(dataset.id()));
  const hsize_t most = kept * kMostExpansion;
  // A file of an older version lacks fields, so a row may be longer in memory than in the file.
  const hsize_t row = std::max<hsize_t>(bytes.row, table.row_bytes);
  return bytes.row > 0 && bytes.chunk <= most && rows <= most / row;
}

void append_rows(hid_t dataset, const Table& table, const void* rows, std::size_t count) {
  if (count == 0) return;
  const hsize_t begin = row_count(dataset);
  const hsize_t added = count;
  const hsize_t end = begin + added;
  check(H5Dset_extent(dataset, &end), "extend a dataset");
  const Handle file_space = checked({H5Dget_space(dataset), H5Sclose}, "get a space");
  check(H5Sselect_hyperslab(file_space.id(), H5S_SELECT_SET, &begin, nullptr, &added, nullptr),
        "select rows");
  const Handle memory_space = checked({H5Screate_simple(1, &added, nullptr), H5Sclose}, "make a space");
  check(H5Dwrite(dataset, row_type(table, false).id(), memory_space.id(), file_space.id(), H5P_DEFAULT, rows),
        std::string("write /") + table.name);
}

bool read_rows(hid_t file, const Table& table, std::vector<std::byte>& bytes) {
  if (H5Lexists(file, table.name, H5P_DEFAULT) <= 0) return false;
  const Handle dataset({H5Dopen2(file, table.name, H5P_DEFAULT), H5Dclose});
  if (!dataset.valid()) return false;
  bytes.assign(row_count(dataset.id()) * table.row_bytes, std::byte{0});
  if (bytes.empty()) return true;
  return H5Dread(dataset.id(), row_type(table, false).id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
}

void write_text(hid_t object, const char* name, std::string_view value) {
  const Handle type = text_type(std::max<std::size_t>(value.size(), 1));
  const Handle space = checked({H5Screate(H5S_SCALAR), H5Sclose}, "make a space");
  if (H5Aexists(object, name) > 0) check(H5Adelete(object, name), "replace an attribute");
  const Handle attribute =
      checked({H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              std::string("create attribute ") + name);
  const std::string padded = value.empty() ? std::string(1, '\0') : std::string(value);
  check(H5Awrite(attribute.id(), type.id(), padded.data()), "write an attribute");
}

void write_number(hid_t object, const char* name, std::int64_t value) {
  const Handle space = checked({H5Screate(H5S_SCALAR), H5Sclose}, "make a space");
  if (H5Aexists(object, name) > 0) check(H5Adelete(object, name), "replace an attribute");
  const Handle attribute =
      checked({H5Acreate2(object, name, H5T_NATIVE_INT64, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              std::string("create attribute ") + name);
  check(H5Awrite(attribute.id(), H5T_NATIVE_INT64, &value), "write an attribute");
}

void write_numbers(hid_t object, const char* name, const std::vector<std::int64_t>& values) {
  const hsize_t size = values.size();
  const Handle space = checked({H5Screate_simple(1, &size, nullptr), H5Sclose}, "make a space");
  const Handle attribute =
      checked({H5Acreate2(object, name, H5T_NATIVE_INT64, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose},
              std::string("create attribute ") + name);
  check(H5Awrite(attribute.id(), H5T_NATIVE_INT64, values.data()), "write an attribute");
}

std::string read_text(hid_t object, const char* name) {
  const Handle attribute = open_scalar(object, name);
  if (!attribute.valid()) return {};
  const Handle type({H5Aget_type(attribute.id()), H5Tclose});
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) return {};
  const std::size_t size = H5Tget_size(type.id());
  if (size > file_bytes(object)) return {};
  std::string value(size, '\0');
  if (H5Aread(attribute.id(), type.id(), value.data()) < 0) return {};
  return value.c_str();
}

std::int64_t read_number(hid_t object, const char* name, std::int64_t missing) {
  const Handle attribute = open_scalar(object, name);
  if (!attribute.valid()) return missing;
  std::int64_t value = missing;
  return H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) < 0 ? missing : value;
}

}  // namespace steelyard::trace
