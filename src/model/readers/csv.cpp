#include "src/model/csv.hpp"

#include "src/model/readers/builder.hpp"
#include "src/model/readers/readers.hpp"
#include "src/model/readers/source_file.hpp"

namespace steelyard::readers {
namespace {

using Reader = CsvReader<4>;

struct Row {
  std::string name;
  std::string shape;
  std::string dtype;
  double multiply_adds = 0.0;
};

std::optional<std::string> add_row(Builder& builder, const Row& row, bool counted) {
  auto shape = parse_shape(row.shape);
  if (!shape || count_elements(*shape).value_or(0) == 0)
    return "shape '" + shown(row.shape) + "' of '" + shown(row.name) +
           "' must be sizes from 1 with an 'x' between, such as 64x3x7x7, and at most 2^44 elements";
  const Dtype* const dtype = dtype_named(row.dtype);
  if (dtype == nullptr)
    return "dtype '" + shown(row.dtype) + "' of '" + shown(row.name) + "' must be one of: " + dtype_names();
  return builder.add(row.name, *std::move(shape), *dtype,
                     counted ? std::optional(row.multiply_adds) : std::nullopt);
}

Expected<InventoryFile> read_rows(Reader& reader, const std::string& path) {
  reader.read_header(io::ignore_missing_column | io::ignore_extra_column, "name", "shape", "dtype",
                     "multiply_adds");
  for (const char* column : {"name", "shape", "dtype"})
    if (!reader.has_column(column))
      return wrong(path, std::string("has no column '") + column +
                             "'; its first line must be name,shape,dtype or name,shape,dtype,multiply_adds");
  const bool counted = reader.has_column("multiply_adds");
  Builder builder;
  Row row;
  while (reader.read_row(row.name, row.shape, row.dtype, row.multiply_adds))
    if (const auto why = add_row(builder, row, counted))
      return wrong(path, "line " + std::to_string(reader.get_file_line()) + ": " + *why);
  return std::move(builder).finish(path);
}

}  // namespace

Expected<InventoryFile> read_csv(const std::string& path) {
  auto file = SourceFile::open(path);
  if (!file) return file.error();
  if (file.value().size() > kMostTextBytes) return wrong(path, "is longer than 100 MB");
  try {
    Reader reader(path);
    return read_rows(reader, path);
  } catch (const std::exception& broken) {
    return wrong(path, std::string("cannot be read: ") + broken.what());
  }
}

}  // namespace steelyard::readers
