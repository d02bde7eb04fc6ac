#include <fmt/format.h>

#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/cli/console.hpp"
#include "src/cli/options.hpp"
#include "src/model/inventory_file.hpp"
#include "src/model/model.hpp"

namespace steelyard::cli {
namespace {

struct CommandText {
  Command command;
  const char* name;
  const char* help;
};
constexpr CommandText kCommands[] = {
    {Command::train, "train", "Train a model in one mode on the ranks of this launch"},
    {Command::compare, "compare", "Measure parameter servers against allreduce, with a verdict"},
    {Command::inspect, "inspect", "Show what a run directory holds, also that of a killed job"},
    {Command::export_run, "export",
     "Hand a run's trace to other viewers: Perfetto, CSV, OTF2; without mpirun"},
    {Command::collect, "collect", "Bring many runs together in one table, with ratios; without mpirun"},
    {Command::place, "place", "Say which server would hold what, by every placement; without mpirun"},
};

constexpr std::size_t kHelpColumn = 24;
constexpr std::size_t kHelpWidth = 98 - kHelpColumn;

/// What CLI11 fills; every value stays text until it is checked.
struct Raw {
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> flags;
  std::string config;
  bool print_config = false;
  std::string target;
  std::vector<std::string> targets;
};

/// Wrapped for a terminal of 100 columns; the default stands at the end of the first line.
std::string help_text(const std::string& help, const std::string& standard) {
  const std::size_t first = std::min(help.find('\n'), help.size());
  return wrapped(help.substr(0, first) + standard + help.substr(first), kHelpWidth, "  ");
}

std::string place_model_help() {
  return wrapped(
      "lenet, lenet-wide:K, mlp:D0-D1-..., video_tagger, a name in data/models/, or a file that ends in " +
          inventory_endings(),
      kHelpWidth, "  ");
}

/// compare's contestants, of which there are many; not export's number.
bool is_list_of_trials(const OptionSpec& spec) {
  return std::string_view(spec.name) == "trial" && spec.kind == OptionKind::text;
}

void declare(CLI::App& app, Command command, Raw& raw) {
  if (command == Command::inspect || command == Command::export_run)
    app.add_option("RUN", raw.target, "a run directory")->required();
  if (command == Command::collect)
    app.add_option("RESULTS", raw.targets, "run directories, or folders that hold some at any depth")
        ->required();
  if (command == Command::place) app.add_option("MODEL", raw.target, place_model_help())->required();
  for (const OptionSpec& spec : option_specs()) {
    if ((spec.commands & static_cast<unsigned>(command)) == 0) continue;
    const std::string flag = std::string("--") + spec.name;
    const std::string standard = *spec.standard == '\0' ? "" : fmt::format(" [{}]", spec.standard);
    const std::string text = help_text(spec.help(), standard);
    CLI::Option* option = nullptr;
    if (spec.kind == OptionKind::flag)
      option = app.add_flag(flag, raw.flags[spec.name], help_text(spec.help(), ""));
    else
      option = app.add_option(flag, raw.values[spec.name], text);
    option->group(spec.group);
    if (spec.kind == OptionKind::flag) continue;
    option->expected(1)->type_name("")->multi_option_policy(
        is_list_of_trials(spec) ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
  }
  if (command == Command::inspect || command == Command::export_run || command == Command::collect) return;
  app.add_option("--config", raw.config, "read options from this TOML file, `name = value` per line")
      ->group("Running");
  app.add_flag("--print-config", raw.print_config, "print the effective options as such a file, and stop")
      ->group("Running");
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string variable_name(const char* option) {
  std::string name = "STEELYARD_";
  for (const char* c = option; *c != '\0'; ++c)
    name += *c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(*c)));
  return name;
}

/// @return the value of `name`, or nothing where it is unset or empty.
std::string variable(char** environment, const std::string& name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    if (entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
  }
  return {};
}

std::string toml_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* array = node.as_array()) {
    std::string joined;
    for (const toml::node& one : *array) joined += (joined.empty() ? "" : ",") + toml_text(one);
    return joined;
  }
  return "?";
}

Status apply_file(Options& options, const std::string& path) {
  std::ifstream file(path);
  if (!file || !std::filesystem::is_regular_file(path))
    return Error{fmt::format("--config '{}': cannot be read: {}", path,
                             file ? "not a regular file" : std::strerror(errno))};
  toml::table table;
  try {
    table = toml::parse(file, path);
  } catch (const toml::parse_error& error) {
    return Error{fmt::format("--config {}: {} (line {})", path, one_line(std::string(error.description())),
                             error.source().begin.line)};
  }
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (name == "trial" && node.is_array()) {
      for (const toml::node& one : *node.as_array()) options.add_trial(toml_text(one));
      continue;
    }
    if (auto set = options.set(name, toml_text(node), Source::file); !set)
      return Error{fmt::format("--config {}: {}", path, set.error().message)};
  }
  return success();
}

Status apply_environment(Options& options, char** environment) {
  for (const OptionSpec& spec : option_specs()) {
    if ((spec.commands & static_cast<unsigned>(options.command)) == 0 ||
        std::string_view(spec.name) == "trial")
      continue;
    const std::string value = variable(environment, variable_name(spec.name));
    if (value.empty()) continue;
    if (auto set = options.set(spec, value, Source::environment); !set)
      return Error{variable_name(spec.name) + ": " + set.error().message};
  }
  return success();
}

Status apply_arguments(Options& options, const CLI::App& app, const Raw& raw) {
  for (const OptionSpec& spec : option_specs()) {
    if ((spec.commands & static_cast<unsigned>(options.command)) == 0) continue;
    if (app.count(std::string("--") + spec.name) == 0) continue;
    if (spec.kind == OptionKind::flag) {
      if (auto set = options.set(spec, raw.flags.at(spec.name) ? "true" : "false", Source::command_line);
          !set)
        return set;
      continue;
    }
    for (const std::string& value : raw.values.at(spec.name)) {
      if (auto set = options.set(spec, value, Source::command_line); !set) return set;
      if (is_list_of_trials(spec)) options.add_trial(value);
    }
  }
  return success();
}

/// A model that is made for one data set takes it where nobody asked for another. Set here, not where data is
/// read, so that run.toml says it.
Status follow_model(Options& options) {
  const bool train = options.command == Command::train || options.command == Command::compare;
  // Replay takes no data, and its files are not read for nothing.
  if (!train || options.source("data") != Source::standard || options.text("model").starts_with("replay"))
    return success();
  const auto model = describe_model(options.text("model"));
  if (!model || model.value().data.empty()) return success();  // A wrong name is refused with the others.
  return options.set("data", model.value().data, Source::standard);
}

Expected<Parsed> resolve(Command command, const CLI::App& app, const Raw& raw, char** environment) {
  Parsed parsed;
  parsed.options.command = command;
  parsed.options.target = raw.target;
  parsed.options.targets = raw.targets;
  for (const OptionSpec& spec : option_specs())
    if ((spec.commands & static_cast<unsigned>(command)) != 0)
      if (auto set = parsed.options.set(spec, spec.standard, Source::standard); !set) return set.error();
  const std::string config = raw.config.empty() ? variable(environment, "STEELYARD_CONFIG") : raw.config;
  if (!config.empty() && command != Command::inspect && command != Command::export_run &&
      command != Command::collect)
    if (auto applied = apply_file(parsed.options, config); !applied) return applied.error();
  if (auto applied = apply_environment(parsed.options, environment); !applied) return applied.error();
  if (auto applied = apply_arguments(parsed.options, app, raw); !applied) return applied.error();
  if (auto followed = follow_model(parsed.options); !followed) return followed.error();
  if (raw.print_config) parsed.print = parsed.options.toml();
  return parsed;
}

/// The command is the first argument, unless that is an option of the program itself.
Status check_command(int argc, const char* const* argv) {
  std::string all;
  for (const CommandText& one : kCommands) {
    if (argc > 1 && std::string_view(argv[1]) == one.name) return success();
    all += (all.empty() ? "" : ", ") + std::string(one.name);
  }
  if (argc > 1 && argv[1][0] == '-') return success();
  if (argc < 2) return Error{"no command; choose one of: " + all + "; see steelyard --help"};
  return Error{fmt::format("unknown command '{}'; choose one of: {}", argv[1], all)};
}

}  // namespace

Expected<Parsed> parse_command_line(int argc, const char* const* argv, char** environment) {
  CLI::App app{"Steelyard weighs parameter servers against allreduce on the ranks that it is given.",
               "steelyard"};
  app.set_help_flag("--help,-h", "print this and exit");
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.get_formatter()->column_width(kHelpColumn);
  app.footer("Start train and compare with mpirun or srun: mpirun -n 4 steelyard compare --servers 1,2");
  std::array<Raw, std::size(kCommands)> raws;
  for (std::size_t i = 0; i < raws.size(); ++i)
    declare(*app.add_subcommand(kCommands[i].name, kCommands[i].help), kCommands[i].command, raws[i]);

  if (auto known = check_command(argc, argv); !known) return known.error();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    std::ostringstream text;
    app.exit(asked, text, text);
    return Parsed{{}, text.str()};
  } catch (const CLI::ParseError& error) {
    return Error{one_line(error.what()) + "; see steelyard --help"};
  }
  for (std::size_t i = 0; i < raws.size(); ++i)
    if (app.got_subcommand(kCommands[i].name))
      return resolve(kCommands[i].command, *app.get_subcommand(kCommands[i].name), raws[i], environment);
  return Error{"no command; see steelyard --help"};
}

}  // namespace steelyard::cli
