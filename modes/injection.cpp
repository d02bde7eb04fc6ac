#include "modes/injection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "src/base/random.hpp"

namespace steelyard {
namespace {

using Kind = Injection::Kind;
using Item = Injection::Item;

/// What may be said: `subject=WHO:what=NUMBER`.
struct Row {
  std::string_view subject;
  std::string_view what;
  Kind kind;
  double low;
  double high;
  std::string_view before;  ///< In words, before the number.
};
constexpr std::array kRows = {
    Row{"worker", "compute", Kind::compute, 1.0, Injection::kMostFactor, " compute x"},
    Row{"worker", "jitter", Kind::jitter, 0.0, 10.0, " jitter "},
    Row{"server", "apply", Kind::apply, 1.0, Injection::kMostFactor, " apply x"},
    Row{"link", "bandwidth", Kind::bandwidth, 0.001, 1.0, " bandwidth x"}};

constexpr std::size_t kMostText = 255;  // The trace keeps it.

const Row& row_of(Kind kind) { return *std::ranges::find(kRows, kind, &Row::kind); }

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && code == std::errc() && rest == text.data() + text.size();
}

std::string shortest(double value) {
  std::array<char, 32> digits{};
  const auto [end, code] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

/// The parts before and after the first `separator`; the second is empty without one.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

Error wrong(std::string_view item, const std::string& what) {
  return {"--slow '" + std::string(item) + "': " + what};
}

/// Two different ranks, the lower first.
bool parse_link(std::string_view text, Item& item) {
  const auto [first, second] = cut(text, '-');
  if (!parse(first, item.first) || !parse(second, item.second)) return false;
  if (item.first > item.second) std::swap(item.first, item.second);
  return item.first >= 0 && item.first != item.second;
}

bool parse_number(std::string_view text, Item& item) {
  if (text == "*") return true;  // As items begin.
  return parse(text, item.first) && item.first >= 0;
}

Expected<Item> parse_item(std::string_view text) {
  const auto [left, right] = cut(text, ':');
  const auto [subject, who] = cut(left, '=');
  const auto [what, number] = cut(right, '=');
  const auto* row = std::ranges::find_if(kRows, [subject = subject, what = what](const Row& one) {
    return one.subject == subject && one.what == what;
  });
  if (row == kRows.end())
    return wrong(
        text,
        "must be worker=N:compute=FACTOR, worker=N:jitter=SIGMA, server=N:apply=FACTOR (N a number, or "
        "* for all) or link=A-B:bandwidth=SHARE (A and B ranks), with a ',' between several");
  Item item;
  item.kind = row->kind;
  item.text = text;
  const bool link = row->kind == Kind::bandwidth;
  if (link ? !parse_link(who, item) : !parse_number(who, item))
    return wrong(text, "'" + std::string(who) + "' must be " +
                           (link ? "two different ranks such as 0-1"
                                 : "the number of a " + std::string(subject) + ", from 0, or * for all"));
  // Not a number compares with nothing.
  if (!parse(number, item.value) || !(item.value >= row->low && item.value <= row->high))
    return wrong(text, std::string(what) + " must be a number from " + shortest(row->low) + " to " +
                           shortest(row->high));
  return item;
}

bool is_for(const Item& item, int number) { return item.first == Injection::kAll || item.first == number; }

std::string who(const Item& item) {
  const std::string subject(row_of(item.kind).subject);
  if (item.kind == Kind::bandwidth)
    return subject + " " + std::to_string(item.first) + "-" + std::to_string(item.second);
  return item.first == Injection::kAll ? "every " + subject : subject + " " + std::to_string(item.first);
}

/// @param place of the item in the list: two jitters of one worker are independent.
double jitter(double sigma, std::size_t place, int worker, Step step, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 1ULL << 45U;  // Apart from those of tensors, samples and rounds.
  constexpr unsigned kStepBits = 40;
  const auto index = (static_cast<std::uint64_t>(worker) << kStepBits) + static_cast<std::uint64_t>(step);
  return std::clamp(std::exp(sigma * random_normal(seed, kStream + place, index)), 1.0,
                    Injection::kMostFactor);
}

}  // namespace

std::string Injection::words() const {
  std::string words;
  for (const Item& item : items_)
    words += (words.empty() ? "" : ", ") + who(item) + std::string(row_of(item.kind).before) +
             shortest(item.value);
  return words;
}

bool Injection::slows_worker(int worker) const {
  return std::ranges::any_of(items_, [worker](const Item& item) {
    return (item.kind == Kind::compute || item.kind == Kind::jitter) && is_for(item, worker);
  });
}

double Injection::compute_factor(int worker, Step step, std::uint64_t seed) const {
  double factor = 1.0;
  for (std::size_t place = 0; place < items_.size(); ++place) {
    const Item& item = items_[place];
    if (item.kind == Kind::compute && is_for(item, worker)) factor += item.value - 1.0;
    if (item.kind == Kind::jitter && is_for(item, worker))
      factor += jitter(item.value, place, worker, step, seed) - 1.0;
  }
  return factor;
}

double Injection::apply_factor(int server) const {
  double factor = 1.0;
  for (const Item& item : items_)
    if (item.kind == Kind::apply && is_for(item, server)) factor += item.value - 1.0;
  return factor;
}

double Injection::bandwidth(Rank a, Rank b) const {
  const auto [low, high] = std::minmax(a, b);
  double slowness = 1.0;
  for (const Item& item : items_)
    if (item.kind == Kind::bandwidth && item.first == low && item.second == high)
      slowness += 1.0 / item.value - 1.0;
  return 1.0 / slowness;
}

Expected<Injection> parse_injection(std::string_view text) {
  Injection injection;
  if (text.empty()) return injection;
  if (text.size() > kMostText)
    return Error{"--slow: the text of " + std::to_string(text.size()) + " characters is too long: at most " +
                 std::to_string(kMostText)};
  injection.text_ = text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    auto item = parse_item(text.substr(begin, end - begin));
    if (!item) return item.error();
    injection.items_.push_back(std::move(item).value());
    begin = end + 1;
  }
  return injection;
}

}  // namespace steelyard
