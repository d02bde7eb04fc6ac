#pragma once

/// @file
/// Rows of a table as JSON and CSV, field by field, under the names that they have in HDF5.

#include <nlohmann/json.hpp>
#include <string>

#include "src/trace/rows.hpp"

namespace steelyard::cli {

/// A number or a text; null for a number that is none. @param row of the table.
nlohmann::json field_json(const trace::Field& field, const void* row);

/// An object with every field.
template <typename Row>
nlohmann::json row_json(const Row& row) {
  nlohmann::json out = nlohmann::json::object();
  for (const trace::Field& field : trace::table<Row>().fields) out[field.name] = field_json(field, &row);
  return out;
}

/// As a CSV cell: quoted where it must be (RFC 4180), empty for null.
std::string cell_text(const nlohmann::json& value);

}  // namespace steelyard::cli
