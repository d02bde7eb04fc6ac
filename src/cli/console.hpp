#pragma once

/// @file
/// What a person sees: tables in 100 columns, and one progress line on a terminal.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace steelyard::cli {

/// Columns of text; the first is left-aligned, the others right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `row`, and what only some tables have after it.
std::vector<std::string> with(std::vector<std::string> row, const std::vector<std::string>& more);

/// Breaks `text` at spaces into lines of at most `width` characters; line breaks in it stay.
std::string wrapped(const std::string& text, std::size_t width, const std::string& hanging = "");

/// "12,345", "12.3 MB".
std::string with_commas(std::int64_t number);
std::string bytes_text(double bytes);
/// Four significant digits.
std::string number_text(double value);
/// "name       text" lines of a summary.
std::string line_text(const std::string& name, const std::string& text);

/// One line that is written over itself, with an estimate of the time left; rank 0 only, a terminal only.
class Progress {
 public:
  enum class When : std::uint8_t { automatic, always, never };
  explicit Progress(When when);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` units of work, the whole run being 1. Cheap: shows a few lines per second.
  void show(const std::string& what, double share);
  /// Whether show would print now; to spare the making of `what`.
  bool due() const;
  void clear();

 private:
  bool on_ = false;
  std::int64_t begin_ns_ = 0;
  mutable std::int64_t shown_ns_ = 0;
  bool visible_ = false;
};

/// Where tables go: standard output, or standard error where JSON has the output.
void print(const std::string& text, bool output_is_json);

}  // namespace steelyard::cli
