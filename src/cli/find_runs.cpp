#include "src/cli/find_runs.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace steelyard::cli {
namespace {

namespace fs = std::filesystem;

bool has(const fs::path& folder, const char* name) {
  std::error_code ignored;
  return fs::exists(folder / name, ignored);
}

bool is_run(const fs::path& folder) { return has(folder, "run.h5"); }

/// Some run began here; what it left is not enough.
bool was_run(const fs::path& folder) { return has(folder, "run.toml") || has(folder, "manifest.json"); }

/// @return whether the folder is a run, or some folder below is one or was one.
bool search(const fs::path& folder, std::vector<std::string>& runs, std::vector<Remark>& remarks) {
  if (is_run(folder)) {
    runs.push_back(folder.string());
    return true;
  }
  if (was_run(folder)) {
    remarks.push_back({folder.string(), "is a run directory without a run.h5"});
    return true;
  }
  std::error_code error;
  std::vector<fs::path> folders;
  fs::directory_iterator end;
  for (fs::directory_iterator at(folder, error); !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) folders.push_back(at->path());
  }
  if (error) {
    remarks.push_back({folder.string(), "cannot be listed: " + error.message()});
    return true;
  }
  std::ranges::sort(folders);
  bool any = false;
  for (const fs::path& one : folders) any = search(one, runs, remarks) || any;
  return any;
}

/// Without the slashes that a shell's completion leaves.
fs::path trimmed(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

std::vector<std::string> find_runs(const std::vector<std::string>& targets, std::vector<Remark>& remarks) {
  std::vector<std::string> found;
  for (const std::string& target : targets) {
    std::error_code error;
    const fs::path path = trimmed(target);
    if (!fs::exists(path, error)) {
      remarks.push_back({target, "does not exist"});
    } else if (!fs::is_directory(path, error)) {
      remarks.push_back({target, "is not a directory"});
    } else if (!search(path, found, remarks)) {
      remarks.push_back({target, "holds no run directory: none has a run.h5"});
    }
  }
  std::vector<std::string> runs;
  std::set<fs::path> seen;
  for (const std::string& one : found) {
    std::error_code error;
    const fs::path place = fs::canonical(one, error);
    if (seen.insert(error ? fs::path(one) : place).second) runs.push_back(one);
  }
  return runs;
}

}  // namespace steelyard::cli
