#include "src/cli/console.hpp"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace steelyard::cli {
namespace {

constexpr std::int64_t kShowEveryNs = 200'000'000;

std::int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Open MPI hands a rank a pipe as standard error; whether a person watches is seen at the launcher's own.
bool terminal_watches() {
  if (isatty(STDERR_FILENO) != 0) return true;
  std::array<char, 64> target{};
  const std::string path = fmt::format("/proc/{}/fd/2", getppid());
  if (readlink(path.c_str(), target.data(), target.size() - 1) <= 0) return false;
  const std::string_view name(target.data());
  return name.starts_with("/dev/pts/") || name.starts_with("/dev/tty");
}

/// Characters, not bytes: the tables hold a few signs beyond ASCII.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 3600 ? fmt::format("{}:{:02d}", whole / 60, whole % 60)
                      : fmt::format("{}:{:02d}:{:02d}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string pad(widths[i] - width(rows_[r][i]), ' ');
      line += (i == 0 ? "" : "  ") + (i == 0 ? rows_[r][i] + pad : pad + rows_[r][i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r > 0) continue;
    std::size_t total = 2 * (widths.size() - 1);
    for (const std::size_t one : widths) total += one;
    text += std::string(total, '-') + "\n";
  }
  return text;
}

std::vector<std::string> with(std::vector<std::string> row, const std::vector<std::string>& more) {
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& hanging) {
  std::string out;
  std::size_t column = 0;
  std::size_t begin = 0;
  bool first = true;  // Of its line.
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::size_t length = end - begin;
    if (!first && column + 1 + length > width) {
      out += "\n" + hanging;
      column = hanging.size();
    } else if (!first) {
      out += " ";
      ++column;
    }
    out += text.substr(begin, length);
    column += length;
    first = false;
    begin = end + 1;
    if (end < text.size() && text[end] == '\n') {
      out += "\n";
      column = 0;
      first = true;
    }
  }
  return out;
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000.0 && unit + 1 < kUnits.size()) bytes /= 1000.0, ++unit;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.4g} {}", bytes, kUnits[unit]);
}

std::string number_text(double value) {
  if (std::isnan(value)) return "-";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::fabs(value) >= 1000.0) return with_commas(std::llround(value));
  return fmt::format("{:.4g}", value);
}

std::string line_text(const std::string& name, const std::string& text) {
  return fmt::format("{:<11}{}\n", name, text);
}

Progress::Progress(When when)
    : on_(when == When::always || (when == When::automatic && terminal_watches())), begin_ns_(now_ns()) {}

bool Progress::due() const { return on_ && now_ns() - shown_ns_ >= kShowEveryNs; }

void Progress::show(const std::string& what, double share) {
  if (!due()) return;
  shown_ns_ = now_ns();
  const double elapsed = static_cast<double>(shown_ns_ - begin_ns_) / 1e9;
  const std::string left = share > 0.0 ? time_text(elapsed / share - elapsed) : "?";
  std::fprintf(stderr, "\r\033[K%s  %3.0f %%, %s left", what.c_str(), share * 100.0, left.c_str());
  std::fflush(stderr);
  visible_ = true;
}

void Progress::clear() {
  if (!visible_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  visible_ = false;
}

void print(const std::string& text, bool output_is_json) {
  std::FILE* out = output_is_json ? stderr : stdout;
  std::fputs(text.c_str(), out);
  std::fflush(out);
}

}  // namespace steelyard::cli
