#pragma once

/// @file
/// Run directories below what a user names.

#include <string>
#include <vector>

namespace steelyard::cli {

/// What a user has to know of something that was named: mostly why it was left out.
struct Remark {
  std::string path;
  std::string text;
};

/// Each run directory once, however often it was named; those below a folder in the order of their names.
/// Links inside a folder are not followed. @param targets run directories, or folders that hold some at any
/// depth. @param[out] remarks on what is neither.
std::vector<std::string> find_runs(const std::vector<std::string>& targets, std::vector<Remark>& remarks);

}  // namespace steelyard::cli
