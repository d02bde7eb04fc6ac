#pragma once

/// @file
/// `results/<run-id>/`: made at the start, never over an existing one, ended by `done`.

#include <nlohmann/json.hpp>
#include <string>

#include "src/cli/launch.hpp"
#include "src/cli/options.hpp"
#include "src/trace/run_file.hpp"

namespace steelyard::cli {

class RunDirectory {
 public:
  /// On rank 0 only. Creates the directory and run.toml. @param id where no name was asked for.
  static Expected<RunDirectory> create(const std::string& results, const std::string& name,
                                       const Options& options);

  const std::string& path() const { return path_; }
  const std::string& id() const { return id_; }

  /// manifest.json, anew.
  void write_manifest(const nlohmann::json& manifest) const;
  /// comparison.json: ratios and verdict. JSON has no infinity; those are null.
  void write_comparison(const nlohmann::json& outcome) const;
  void write_summary(const std::vector<std::string>& lines) const;
  /// After everything else: the run is whole.
  void finish() const;

 private:
  void write(const std::string& file, const std::string& text) const;

  std::string path_;
  std::string id_;
};

/// `<date-time>-<mode>-<model>-<S>s<W>w-<4 hex>`.
std::string make_run_id(const std::string& mode, const std::string& model, int servers, int workers);

/// What was run, by which program, where. @param argv as the user typed it.
nlohmann::json make_manifest(const Launch& launch, int argc, const char* const* argv, char** environment);

/// Now, UTC, as 2026-01-31T12:00:00Z.
std::string time_stamp();

}  // namespace steelyard::cli
