#include "src/trace/hdf5.hpp"

#include <algorithm>
#include <array>

namespace steelyard::trace {
namespace {

Handle phase_type() {
  Handle type = checked({H5Tenum_create(H5T_NATIVE_UINT8), H5Tclose}, "make the phase type");
  for (std::uint8_t value = 0; value < kPhaseNames.size(); ++value)
    check(H5Tenum_insert(type.id(), std::string(kPhaseNames[value]).c_str(), &value), "name a phase");
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
      return phase_type();
    case Kind::text:
      return text_type(field.size);
  }
  die("unknown kind of field");
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
  if (H5Aexists(object, name) <= 0) return {};
  const Handle attribute({H5Aopen(object, name, H5P_DEFAULT), H5Aclose});
  const Handle type({H5Aget_type(attribute.id()), H5Tclose});
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0) return {};
  std::string value(H5Tget_size(type.id()), '\0');
  if (H5Aread(attribute.id(), type.id(), value.data()) < 0) return {};
  return value.c_str();
}

std::int64_t read_number(hid_t object, const char* name, std::int64_t missing) {
  if (H5Aexists(object, name) <= 0) return missing;
  const Handle attribute({H5Aopen(object, name, H5P_DEFAULT), H5Aclose});
  std::int64_t value = missing;
  return H5Aread(attribute.id(), H5T_NATIVE_INT64, &value) < 0 ? missing : value;
}

}  // namespace steelyard::trace
