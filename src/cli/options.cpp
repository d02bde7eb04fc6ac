#include "src/cli/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "src/base/check.hpp"

namespace steelyard::cli {
namespace {

const OptionSpec* spec_of(Command command, std::string_view name) {
  for (const OptionSpec& spec : option_specs())
    if (name == spec.name && (spec.commands & static_cast<unsigned>(command)) != 0) return &spec;
  return nullptr;
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && rest == text.data() + text.size() && !text.empty();
}

std::string bounds(const OptionSpec& spec) {
  return fmt::format("from {:.16g} to {:.16g}", spec.low, spec.high);
}

bool within(const OptionSpec& spec, double value) { return spec.low <= value && value <= spec.high; }

bool is_integer(const OptionSpec& spec, std::string_view text) {
  std::int64_t number = 0;
  return parse(text, number) && within(spec, static_cast<double>(number));
}

/// Splits at `separator`; "" gives one empty part.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Status wrong(const OptionSpec& spec, const std::string& value, const std::string& allowed) {
  return Error{fmt::format("--{} '{}': must be {}", spec.name, value, allowed)};
}

bool is_real(const OptionSpec& spec, std::string_view text) {
  double number = 0.0;
  return parse(text, number) && std::isfinite(number) && within(spec, number);
}

/// A list of numbers from a text that has been checked; "" is none.
template <typename Number>
std::vector<Number> numbers_of(std::string_view text) {
  std::vector<Number> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : split(text, ',')) parse(part, numbers.emplace_back());
  return numbers;
}

Status check(const OptionSpec& spec, const std::string& value) {
  for (const char c : value)
    if (static_cast<unsigned char>(c) < 0x20) return wrong(spec, "...", "a text without control characters");
  if (value.empty() && *spec.standard == '\0') return success();  // None.
  switch (spec.kind) {
    case OptionKind::integer:
      if (!is_integer(spec, value)) return wrong(spec, value, "a whole number " + bounds(spec));
      break;
    case OptionKind::real:
      if (!is_real(spec, value)) return wrong(spec, value, "a number " + bounds(spec));
      break;
    case OptionKind::flag:
      if (value != "true" && value != "false") return wrong(spec, value, "true or false");
      break;
    case OptionKind::integers:
      for (const std::string_view part : split(value, ','))
        if (!is_integer(spec, part))
          return wrong(spec, value, "whole numbers " + bounds(spec) + " with a ',' between");
      break;
    case OptionKind::reals:
      for (const std::string_view part : split(value, ','))
        if (!is_real(spec, part))
          return wrong(spec, value, "numbers " + bounds(spec) + " with a ',' between");
      break;
    case OptionKind::text:
      break;
  }
  return success();
}

std::string quoted(const OptionSpec& spec, const std::string& value) {
  if (spec.kind == OptionKind::integer || spec.kind == OptionKind::real || spec.kind == OptionKind::flag)
    return value;
  std::string text = "\"";
  for (const char c : value) text += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  return text + "\"";
}

}  // namespace

std::string_view source_name(Source source) {
  switch (source) {
    case Source::standard:
      return "default";
    case Source::measured:
      return "measured";
    case Source::file:
      return "file";
    case Source::environment:
      return "environment";
    case Source::command_line:
      return "command line";
  }
  return "";
}

Status Options::set(const OptionSpec& spec, const std::string& value, Source source) {
  if (auto good = check(spec, value); !good) {
    const std::string from =
        source == Source::command_line ? "" : fmt::format(" (from the {})", source_name(source));
    return Error{good.error().message + from};
  }
  values_[spec.name] = {value, source};
  return success();
}

Status Options::set(std::string_view name, const std::string& value, Source source) {
  const OptionSpec* spec = spec_of(command, name);
  if (spec == nullptr) return Error{fmt::format("unknown option '{}'", name)};
  return set(*spec, value, source);
}

const Options::Value& Options::find(std::string_view name) const {
  const auto found = values_.find(name);
  require(found != values_.end(), fmt::format("option {} is declared for this command", name));
  return found->second;
}

std::int64_t Options::integer(std::string_view name) const {
  std::int64_t number = 0;
  parse(text(name), number);
  return number;
}

double Options::real(std::string_view name) const {
  double number = 0.0;
  parse(text(name), number);
  return number;
}

std::vector<int> Options::integers(std::string_view name) const { return numbers_of<int>(text(name)); }

std::vector<std::size_t> Options::sizes(std::string_view name) const {
  return numbers_of<std::size_t>(text(name));
}

std::vector<double> Options::reals(std::string_view name) const { return numbers_of<double>(text(name)); }

std::string Options::toml() const {
  const char* name = command == Command::train ? "train" : command == Command::compare ? "compare" : "place";
  std::string text =
      fmt::format("# steelyard {}: the effective options; `--config` of this file repeats the run\n", name);
  const char* group = "";
  for (const OptionSpec& spec : option_specs()) {
    const auto found = values_.find(spec.name);
    if ((spec.commands & static_cast<unsigned>(command)) == 0 || found == values_.end()) continue;
    if (spec.kind == OptionKind::integer && found->second.value.empty()) continue;  // Must be given.
    if (std::string_view(spec.name) == "json" || std::string_view(spec.name) == "dry-run") continue;
    if (std::string_view(group) != spec.group) text += fmt::format("\n# {}\n", group = spec.group);
    if (std::string_view(spec.name) == "trial") {
      if (trials_.empty()) continue;
      text += "trial = [";
      for (const std::string& trial : trials_) text += quoted(spec, trial) + ", ";
      text += "]\n";
      continue;
    }
    // A repeat must not want to be the run that it repeats.
    const char* out_of_force = std::string_view(spec.name) == "name" ? "# " : "";
    const std::string line =
        fmt::format("{}{} = {}", out_of_force, spec.name, quoted(spec, found->second.value));
    text += fmt::format("{:<36} # {}\n", line, source_name(found->second.source));
  }
  return text;
}

}  // namespace steelyard::cli
