#include "src/cli/run_directory.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "build_info.hpp"
#include "kernels/gemm.hpp"
#include "kernels/instructions.hpp"
#include "src/trace/library.hpp"

namespace steelyard::cli {
namespace {

namespace fs = std::filesystem;

std::tm now_utc() {
  return fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
}

nlohmann::json recorded_variables(char** environment) {
  nlohmann::json variables = nlohmann::json::object();
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    for (const std::string_view prefix :
         {"SLURM_", "OMPI_", "NCCL_", "STEELYARD_", "HDF5_USE_FILE_LOCKING", "OMP_"})
      if (entry.starts_with(prefix) && entry.find('=') != std::string_view::npos)
        variables[std::string(entry.substr(0, entry.find('=')))] =
            std::string(entry.substr(entry.find('=') + 1));
  }
  return variables;
}

}  // namespace

std::string time_stamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now_utc()); }

std::string make_run_id(const std::string& mode, const std::string& model, int servers, int workers) {
  std::string plain;
  for (const char c : model) plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
  return fmt::format("{:%Y%m%d-%H%M%S}-{}-{}-{}s{}w-{:04x}", now_utc(), mode, plain.substr(0, 40), servers,
                     workers, std::random_device{}() & 0xFFFFU);
}

Expected<RunDirectory> RunDirectory::create(const std::string& results, const std::string& name,
                                            const Options& options) {
  RunDirectory directory;
  directory.id_ = name;
  directory.path_ = (fs::path(results) / name).string();
  std::error_code error;
  fs::create_directories(results, error);
  if (error) return Error{fmt::format("--results '{}': cannot be created: {}", results, error.message())};
  if (!fs::create_directory(directory.path_, error)) {
    if (!error)
      return Error{fmt::format("run directory '{}' exists already; give another --name", directory.path_)};
    return Error{fmt::format("run directory '{}' cannot be created: {}", directory.path_, error.message())};
  }
  std::ofstream file(directory.path_ + "/run.toml");
  file << options.toml();
  file.close();
  if (!file) return Error{fmt::format("run directory '{}': run.toml cannot be written", directory.path_)};
  return directory;
}

void RunDirectory::write(const std::string& file, const std::string& text) const {
  const std::string fresh = path_ + "/" + file + ".new";
  std::ofstream out(fresh);
  out << text;
  out.close();
  if (!out) die("cannot write " + fresh);
  fs::rename(fresh, path_ + "/" + file);
}

void RunDirectory::write_manifest(const nlohmann::json& manifest) const {
  write("manifest.json", manifest.dump(2) + "\n");
}

void RunDirectory::write_comparison(const nlohmann::json& outcome) const {
  write("comparison.json", outcome.dump(2) + "\n");
}

void RunDirectory::write_summary(const std::vector<std::string>& lines) const {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write("summary.csv", text);
}

void RunDirectory::finish() const { write("done", ""); }

nlohmann::json make_manifest(const Launch& launch, int argc, const char* const* argv, char** environment) {
  nlohmann::json manifest;
  manifest["version"] = kVersion;
  manifest["git_revision"] = kRevision;
  manifest["dirty"] = std::string_view(kRevision).ends_with("-dirty");
  manifest["build_type"] = kBuildType;
  manifest["compile_flags"] = kFlags;
  manifest["compiler"] = kCompiler;
  manifest["libraries"] = {{"mpi", mpi::library_version()},
                           {"hdf5", trace::library_version()},
                           {"matrix_products", std::string(kernels::gemm_library())},
                           {"cuda", nullptr},
                           {"nccl", nullptr}};
  manifest["instruction_set"] = std::string(kernels::instruction_set());
  manifest["argv"] = std::vector<std::string>(argv, argv + argc);
  manifest["hosts"] = launch.topology.host_of_rank;
  manifest["node_of_rank"] = launch.topology.node_of_rank;
  manifest["cores_of_rank"] = launch.topology.cores_of_rank;
  manifest["wait"] = std::string(mpi::wait_name(launch.wait));
  manifest["validity"] = launch.validity.text();
  manifest["machines"] = launch.topology.machines;
  manifest["lab"] = launch.lab;
  manifest["variables"] = recorded_variables(environment);
  manifest["start"] = time_stamp();
  manifest["end"] = nullptr;
  manifest["exit_status"] = nullptr;
  return manifest;
}

}  // namespace steelyard::cli
