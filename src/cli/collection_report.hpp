#pragma once

/// @file
/// What `collect` found, for people and for programs. All say the same figures.

#include <nlohmann/json.hpp>
#include <string>

#include "src/cli/collection.hpp"

namespace steelyard::cli {

/// Rows of the collection's HDF5 file, which CSV and JSON take their fields from too.
trace::CollectionTables collection_tables(const Collection& collection);

/// Tables in 100 columns.
std::string collection_text(const Collection& collection, const trace::CollectionTables& tables);
/// A row for every trial: the fields of CollectedRow, then a column for each setting that some trial has.
std::string collection_csv(const Collection& collection, const trace::CollectionTables& tables);
/// The keys of `collect` in docs/json.md.
nlohmann::json collection_json(const Collection& collection, const trace::CollectionTables& tables);

}  // namespace steelyard::cli
