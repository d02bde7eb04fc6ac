#include "modes/ps/placement/explicit.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "modes/ps/placement/load.hpp"

namespace steelyard::ps {
namespace {

/// One line of the file.
struct Rule {
  int line = 0;
  std::string pattern;
  bool piece = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  int server = 0;
};

/// The file. Literal patterns are looked up, for a file may have a line for each of 100,000 tensors.
struct Rules {
  std::vector<Rule> rules;
  std::vector<std::size_t> globs;                                    ///< Rules with wildcards.
  std::unordered_map<std::string, std::size_t> literals;             ///< Name to the first rule.
  std::unordered_map<std::string, std::vector<std::size_t>> pieces;  ///< Pattern to its piece rules.
  std::string fallback;

  const Rule* match(const std::string& name) const;
};

Error wrong(int line, const std::string& what) {
  return {"explicit placement, line " + std::to_string(line) + ": " + what};
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Takes the last word off `text`, and the blanks before it.
std::string_view last_word(std::string_view& text) {
  const std::size_t blank = text.find_last_of(" \t");
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin);
  text = trimmed(text.substr(0, begin));
  return word;
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && code == std::errc() && rest == text.data() + text.size();
}

/// The one name that a pattern without wildcards matches.
std::optional<std::string> literal(std::string_view pattern) {
  std::string name;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (std::string_view("*?[").find(pattern[i]) != std::string_view::npos) return std::nullopt;
    if (pattern[i] == '\\' && ++i == pattern.size()) return std::nullopt;
    name += pattern[i];
  }
  return name;
}

const Rule* Rules::match(const std::string& name) const {
  std::size_t first = rules.size();
  if (const auto found = literals.find(name); found != literals.end()) first = found->second;
  for (const std::size_t glob : globs) {
    if (glob > first) break;
    if (fnmatch(rules[glob].pattern.c_str(), name.c_str(), 0) == 0) return &rules[glob];
  }
  return first < rules.size() ? &rules[first] : nullptr;
}

void add_rule(Rules& all, Rule rule) {
  const std::size_t index = all.rules.size();
  if (rule.piece) all.pieces[rule.pattern].push_back(index);
  if (const auto name = literal(rule.pattern))
    all.literals.emplace(*name, index);
  else
    all.globs.push_back(index);
  all.rules.push_back(std::move(rule));
}

/// "24000:48000"
bool parse_piece(std::string_view text, Rule& rule) {
  const std::size_t colon = text.find(':');
  return colon != std::string_view::npos && parse(text.substr(0, colon), rule.begin) &&
         parse(text.substr(colon + 1), rule.end);
}

/// @param text not empty.
Status add_line(Rules& all, std::string_view text, int line, int servers) {
  std::string_view before = text;
  const std::string_view last = last_word(before);
  Rule rule;
  rule.line = line;
  if (!parse(last, rule.server)) {
    if (before != "fallback")
      return wrong(line, "'" + std::string(text) +
                             "' is neither PATTERN SERVER, nor PATTERN BEGIN:END SERVER, nor fallback NAME");
    if (last.starts_with("explicit")) return wrong(line, "the fallback must be another strategy");
    if (auto known = find_placement(last); !known) return wrong(line, known.error().message);
    all.fallback = last;
    return success();
  }
  if (rule.server < 0 || rule.server >= servers)
    return wrong(line, "server " + std::to_string(rule.server) + " of " + std::to_string(servers) +
                           "; must be from 0 to " + std::to_string(servers - 1));
  std::string_view pattern = before;
  if (rule.piece = parse_piece(last_word(pattern), rule); rule.piece && rule.begin >= rule.end)
    return wrong(line, "elements " + std::to_string(rule.begin) + ":" + std::to_string(rule.end) +
                           ": the end must be greater than the begin");
  rule.pattern = rule.piece ? pattern : before;
  if (rule.pattern.empty())
    return wrong(line, "'" + std::string(text) + "' has no pattern before the numbers");
  add_rule(all, std::move(rule));
  return success();
}

Expected<Rules> parse_rules(const std::string& text, int servers) {
  Rules all;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    if (auto good = add_line(all, content, number, servers); !good) return good.error();
  }
  return all;
}

/// The pieces that the rules with the pattern of `first` cut from a tensor.
Status add_pieces(const Rules& all, const Rule& first, TensorId id, const Tensor& tensor, Placed& placed) {
  std::vector<Rule> pieces;
  for (const std::size_t rule : all.pieces.at(first.pattern)) pieces.push_back(all.rules[rule]);
  std::ranges::sort(pieces, {}, &Rule::begin);
  std::size_t next = 0;
  for (const Rule& rule : pieces) {
    if (rule.begin != next || rule.end > tensor.elements())
      return wrong(rule.line, "elements " + std::to_string(rule.begin) + ":" + std::to_string(rule.end) +
                                  " of '" + tensor.name + "', which has " +
                                  std::to_string(tensor.elements()) + ": the next piece must begin at " +
                                  std::to_string(next));
    placed.shards.push_back({id, rule.begin, rule.end, rule.server});
    next = rule.end;
  }
  if (next == tensor.elements()) return success();
  return wrong(pieces.back().line, "the pieces of '" + tensor.name + "' end at " + std::to_string(next) +
                                       " of its " + std::to_string(tensor.elements()) + " elements");
}

/// Places the tensors that no rule matches as if they were the model, on the memory that is left.
Status add_rest(const Rules& all, const std::vector<TensorId>& rest, const Inventory& inventory,
                const PlacementOptions& options, Placed& placed) {
  if (rest.empty()) return success();
  if (all.fallback.empty())
    return Error{"explicit placement: no line matches tensor '" + inventory[rest.front()].name +
                 "'; add one, or a last line 'fallback NAME' with one of the other strategies"};
  Inventory part;
  for (const TensorId id : rest) part.push_back(inventory[id]);
  PlacementOptions left = options;
  if (!options.memory.empty()) {
    const auto used = server_bytes(inventory, placed.shards, options.servers);
    left.memory.resize(used.size(), options.memory.front());
    for (std::size_t s = 0; s < used.size(); ++s)
      left.memory[s] -= std::min(left.memory[s], used[s] * options.memory_copies);
  }
  auto others = find_placement(all.fallback).value()(part, left);
  if (!others) return others.error();
  for (Shard shard : others.value().shards) {
    shard.tensor = rest[shard.tensor];
    placed.shards.push_back(shard);
  }
  std::ranges::sort(placed.shards, {}, [](const Shard& s) { return std::pair(s.tensor, s.begin); });
  return success();
}

/// Matches the name: wildcards escaped, and what a line cannot hold there by '?'.
std::string pattern_of(const std::string& name) {
  std::string pattern;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool edge = i == 0 || i + 1 == name.size();
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos || (i == 0 && c == '#')) pattern += '\\';
    pattern += static_cast<unsigned char>(c) < 0x20 || (edge && c == ' ') ? '?' : c;
  }
  return pattern;
}

}  // namespace

Expected<Placed> place_explicit(const Inventory& inventory, const PlacementOptions& options) {
  auto parsed = parse_rules(options.rules, options.servers);
  if (!parsed) return parsed.error();
  const Rules& all = parsed.value();
  Placed placed;
  std::vector<TensorId> rest;
  for (TensorId id = 0; id < inventory.size(); ++id) {
    const Tensor& tensor = inventory[id];
    const Rule* const rule = all.match(tensor.name);
    if (rule == nullptr) {
      rest.push_back(id);
    } else if (!rule->piece) {
      placed.shards.push_back({id, 0, tensor.elements(), rule->server});
    } else if (auto good = add_pieces(all, *rule, id, tensor, placed); !good) {
      return good.error();
    }
  }
  if (auto good = add_rest(all, rest, inventory, options, placed); !good) return good.error();
  return placed;
}

std::string explicit_rules(const Inventory& inventory, std::span<const Shard> shards) {
  std::string text;
  for (const Shard& shard : shards) {
    const Tensor& tensor = inventory[shard.tensor];
    const std::string pattern = pattern_of(tensor.name);
    text += pattern;
    // A blank and what follows could be taken for the elements.
    if (shard.elements() != tensor.elements() || pattern.find(' ') != std::string::npos)
      text += ' ' + std::to_string(shard.begin) + ':' + std::to_string(shard.end);
    text += ' ' + std::to_string(shard.server) + '\n';
  }
  return text;
}

}  // namespace steelyard::ps
