#include "src/cli/run_options.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "src/cli/option_dependencies.hpp"
#include "src/cli/options.hpp"

namespace steelyard::cli {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20U;

/// They say where or how often, not what; or the trace says it better.
constexpr std::array kNoSettings = {
    "results", "name",     "progress", "json",  "seed",   "rounds", "confirm-rounds",   "trial-seconds",
    "steps",   "epochs",   "dry-run",  "batch", "trial",  "price",  "batch-per-worker", "servers",
    "mode",    "data-dir", "model",    "data",  "warmup", "timeout"};

/// "" for what is no plain value.
std::string value_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  return "";
}

void read_trials(const toml::node& node, RunOptions& options) {
  if (const auto* array = node.as_array())
    for (const toml::node& one : *array) options.trials.push_back(value_text(one));
}

std::string value_of(const Settings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

/// The contestant's own words stand over those of the run: its label begins with its letter.
void apply_contestant(const RunOptions& options, std::string_view label, Settings& settings) {
  if (label.size() < 2 || label[1] != ':' || label[0] < 'A') return;
  const auto place = static_cast<std::size_t>(label[0] - 'A');
  if (place >= options.trials.size()) return;
  std::istringstream words(options.trials[place]);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) settings[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

void apply_row(const trace::RunTables& tables, const trace::TrialRow& row, Settings& settings) {
  const auto set = [&](const char* name, std::string_view value) {
    if (!trace::is_cut(value, settings[name])) settings[name] = std::string(value);
  };
  set("model", tables.model);
  set("data", tables.data);
  set("mode", trace::view(row.mode));
  set("workers", std::to_string(row.workers));
  set("ranks", std::to_string(tables.ranks));
  set("batch", std::to_string(row.batch));
  set("warmup", std::to_string(row.warmup));
  set("wire", trace::view(row.wire));
  set("slow", trace::view(row.slow));
  if (trace::view(row.mode) != "ps") {
    set("collective", trace::view(row.collective));
    return;
  }
  set("servers", std::to_string(row.servers));
  set("placement", trace::view(row.placement));
  set("consistency", trace::view(row.consistency));
  set("staleness-policy", trace::view(row.staleness_policy));
  set("max-lag", std::to_string(row.max_lag));
  set("backup-workers", std::to_string(row.backup_workers));
  set("max-staleness", std::to_string(row.max_staleness));
  set("on-drop", trace::view(row.on_drop));
}

/// How long a trial is, in the words in which it was asked for.
void apply_length(const RunOptions& options, const trace::TrialRow& row, bool by_time, Settings& settings) {
  const bool own_steps = settings.contains("steps") && settings["steps"] != value_of(options.values, "steps");
  const std::string epochs = value_of(settings, "epochs");
  const std::string seconds = value_of(settings, "trial-seconds");
  for (const char* name : {"steps", "epochs", "trial-seconds"}) settings.erase(name);
  if (by_time && !own_steps)
    settings["trial-seconds"] = seconds;
  else if (!epochs.empty() && epochs != "0")
    settings["epochs"] = epochs;
  else
    settings["steps"] = std::to_string(row.steps);
}

void drop_what_does_not_apply(Settings& settings) {
  const bool ps = settings["mode"] == "ps";
  const auto value = [&](std::string_view name) { return value_of(settings, std::string(name)); };
  for (const OptionSpec& spec : option_specs())
    if (!lacks(spec.name, value).empty() || (!ps && std::string_view(spec.group) == "Placement"))
      settings.erase(spec.name);
  std::erase_if(settings, [](const auto& one) { return one.second.empty(); });
}

}  // namespace

Expected<RunOptions> read_run_options(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) return Error{fmt::format("{} cannot be read: {}", path, error.message())};
  if (bytes > kMostBytes)
    return Error{fmt::format("{} has {} bytes; a run.toml has at most {}", path, bytes, kMostBytes)};
  std::ifstream file(path);
  RunOptions options;
  try {
    for (const auto& [key, node] : toml::parse(file, path)) {
      const std::string value = value_text(node);
      if (key.str() == "trial") read_trials(node, options);
      if (!value.empty()) options.values[std::string(key.str())] = value;
    }
  } catch (const toml::parse_error& bad) {
    return Error{
        fmt::format("{} cannot be read: {} (line {})", path, bad.description(), bad.source().begin.line)};
  }
  return options;
}

Settings trial_settings(const RunOptions& options, const trace::RunTables& tables, const trace::TrialRow& row,
                        bool by_time) {
  Settings settings = options.values;
  apply_contestant(options, trace::view(row.label), settings);
  apply_length(options, row, by_time, settings);
  Settings length;
  for (const char* name : {"steps", "epochs", "trial-seconds"})
    if (settings.contains(name)) length[name] = settings[name];
  for (const char* name : kNoSettings) settings.erase(name);
  settings.merge(length);
  apply_row(tables, row, settings);
  drop_what_does_not_apply(settings);
  return settings;
}

Semantics semantics_of(const Settings& settings, const trace::TrialRow& row) {
  Semantics made;
  const auto value = [&](const char* name) { return value_of(settings, name); };
  made.reading = reading_of(value("consistency"), row.backup_workers, row.max_lag,
                            fmt::format("{} {} {} {}", value("staleness-policy"), value("max-staleness"),
                                        value("compensation"), value("on-drop")));
  if (value("model").starts_with("replay:")) return made;
  made.learning = fmt::format("{} {} {}", value("optimizer"), value("lr"), value("momentum"));
  made.batch = row.batch;
  return made;
}

}  // namespace steelyard::cli
