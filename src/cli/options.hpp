#pragma once

/// @file
/// The options of every command: declared in one table, read from the command line over `STEELYARD_*`
/// variables over `--config FILE` over the default, and checked before MPI starts.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/expected.hpp"

namespace steelyard::cli {

enum class Command : std::uint8_t {
  train = 1,
  compare = 2,
  inspect = 4,
  place = 8,
  export_run = 16,
  collect = 32
};

enum class OptionKind : std::uint8_t { text, integer, real, flag, integers, reals };

/// One option. `low` and `high` bound numbers, inclusive.
struct OptionSpec {
  const char* name;   ///< Without the dashes.
  unsigned commands;  ///< Bits of Command.
  OptionKind kind;
  const char* standard;  ///< Default, as it would be typed; "" for none.
  double low;
  double high;
  const char* group;
  std::string (*help)();
};
std::span<const OptionSpec> option_specs();

/// Where a value comes from, for run.toml; a later one wins over an earlier one.
enum class Source : std::uint8_t { standard, measured, file, environment, command_line };
std::string_view source_name(Source source);

/// Every option of a command with its value.
class Options {
 public:
  Command command = Command::train;
  std::string target;                ///< inspect, export: the run directory; place: the model.
  std::vector<std::string> targets;  ///< collect: run directories, or folders that hold some.

  /// Sets and checks a value. Errors name the option, the value, and what is allowed.
  Status set(const OptionSpec& spec, const std::string& value, Source source);
  /// Sets by name, as `--trial` does; the name must be an option of the command.
  Status set(std::string_view name, const std::string& value, Source source);
  void add_trial(const std::string& text) { trials_.push_back(text); }
  const std::vector<std::string>& trials() const { return trials_; }

  const std::string& text(std::string_view name) const { return find(name).value; }
  /// Whether the user asked for it here and now, not by a file that names every option.
  bool given(std::string_view name) const { return find(name).source >= Source::environment; }
  Source source(std::string_view name) const { return find(name).source; }
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const { return text(name) == "true"; }
  std::vector<int> integers(std::string_view name) const;
  /// Of lists; "" is none.
  std::vector<std::size_t> sizes(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;

  /// As a file for `--config`; a comment says each value's source.
  std::string toml() const;

 private:
  struct Value {
    std::string value;
    Source source = Source::standard;
  };
  const Value& find(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> trials_;
};

/// What the command line asks for.
struct Parsed {
  Options options;
  std::string print;  ///< Text for --help, --version or --print-config; then nothing is run.
};

/// @param environment "NAME=value" texts. @return the options, or one sentence on what is wrong.
Expected<Parsed> parse_command_line(int argc, const char* const* argv, char** environment);

/// Program, revision, build, and the libraries that were built in.
std::string version_text();

}  // namespace steelyard::cli
