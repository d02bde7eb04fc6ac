#pragma once

/// @file
/// Choosing a strategy by its name on the command line. A `.def` table makes the rows; the same rows feed
/// `--help` and the "choose one of" error.

#include <span>
#include <string>
#include <string_view>

#include "src/base/expected.hpp"

namespace steelyard {

/// One row of a catalog: the name the user types, one line of help, and how to make it.
template <typename Make>
struct Choice {
  std::string_view name;
  std::string_view help;
  Make* make;
};

/// @return the names of `rows`, comma separated.
template <typename Make>
std::string names(std::span<const Choice<Make>> rows) {
  std::string known;
  for (const Choice<Make>& row : rows) known += (known.empty() ? "" : ", ") + std::string(row.name);
  return known;
}

/// @return one line per row, "name: what it does", for `--help`.
template <typename Make>
std::string help(std::span<const Choice<Make>> rows) {
  std::string lines;
  for (const Choice<Make>& row : rows)
    lines += (lines.empty() ? "" : "\n") + std::string(row.name) + ": " + std::string(row.help);
  return lines;
}

/// @return the row called `name`, or an error that lists every name there is.
template <typename Make>
Expected<Make*> choose(std::string_view kind, std::span<const Choice<Make>> rows, std::string_view name) {
  for (const Choice<Make>& row : rows)
    if (row.name == name) return row.make;
  return Error{"unknown " + std::string(kind) + " '" + std::string(name) +
               "'; choose one of: " + names(rows)};
}

}  // namespace steelyard
