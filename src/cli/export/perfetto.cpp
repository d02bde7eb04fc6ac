#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "src/cli/export/selection.hpp"
#include "src/cli/export/timeline.hpp"

namespace steelyard::cli {
namespace {

/// Threads of all processes have numbers of their own.
constexpr std::int64_t kLinesPerRank = 4096;

std::string escaped(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The "JSON Array Format" of Chrome's trace viewer, which Perfetto reads, one event per line.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : file_(std::fopen(path.c_str(), "wx")) {
    if (file_) std::fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", file_.get());
  }

  bool opened() const { return file_ != nullptr; }

  /// @param body keys and values, without the braces.
  template <typename... Values>
  void add(fmt::format_string<Values...> body, Values&&... values) {
    line_.clear();
    line_ += first_ ? "\n{" : ",\n{";
    first_ = false;
    fmt::format_to(std::back_inserter(line_), body, std::forward<Values>(values)...);
    line_ += '}';
    std::fwrite(line_.data(), 1, line_.size(), file_.get());
  }

  /// @param other the file's own facts, as JSON.
  Status close(const std::string& other) {
    std::fprintf(file_.get(), "\n], \"otherData\": %s}\n", other.c_str());
    const bool good = std::ferror(file_.get()) == 0 && std::fclose(file_.release()) == 0;
    return good ? success() : Status(Error{fmt::format("cannot be written: {}", std::strerror(errno))});
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string line_;
  bool first_ = true;
};

/// Nanoseconds as the microseconds that the format wants, exactly.
std::string micro(std::int64_t ns) {
  return ns < 0 ? fmt::format("-{}", micro(-ns)) : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

/// One rank as a process.
class Process {
 public:
  Process(TraceFile& out, const ExportedRun& run, int rank, const trace::RankReader& file)
      : out_(out), run_(run), rank_(rank), file_(file), flows_(rank) {}

  Status write() {
    const std::string role = role_text(run_, rank_);
    const std::string name = fmt::format("{} (rank {}, {})", role, rank_, file_.host());
    out_.add(R"("ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}})", pid(), escaped(name));
    out_.add(R"("ph": "M", "name": "process_sort_index", "pid": {}, "args": {{"sort_index": {}}})", pid(),
             rank_);
    if (auto read = file_.each<trace::StepRow>([this](const auto& row) { add(row); }); !read) return read;
    if (auto read = file_.each<trace::EventRow>([this](const auto& row) { add(row); }); !read) return read;
    if (auto read = file_.each<trace::LoadRow>([this](const auto& row) { add(row); }); !read) return read;
    for (int line = 0; line < lines_.count(); ++line)
      out_.add(R"("ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "{}"}})", pid(),
               tid(line), line == Lines::kMain ? "phases" : fmt::format("transfers {}", line));
    return success();
  }

 private:
  std::int64_t pid() const { return rank_ + 1; }  // Viewers take process 0 for the idle one.
  std::int64_t tid(int line) const { return pid() * kLinesPerRank + line; }
  std::int64_t time_ns(std::int64_t own_ns) const { return file_.alignment()(own_ns) - run_.base_ns; }

  void add(const trace::StepRow& row) {
    if (!run_.selection.holds(row.trial, row.step)) return;
    const std::int64_t begin_ns = time_ns(row.begin_ns);
    const std::int64_t end_ns = time_ns(row.end_ns);
    out_.add(
        R"("ph": "X", "name": "step {}", "cat": "step", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": )"
        R"({{"trial": {}, "step": {}, "samples": {}, "loss": {}, "cpu_ms": {}}})",
        row.step, pid(), tid(Lines::kMain), micro(begin_ns), micro(end_ns - begin_ns), row.trial, row.step,
        row.samples, nlohmann::json(row.loss).dump(), static_cast<double>(row.cpu_ns) / 1e6);
    count("bytes per step", end_ns, fmt::format(R"("out": {}, "in": {})", row.bytes_out, row.bytes_in));
  }

  void add(const trace::EventRow& row) {
    const int line = lines_.of(row);
    const auto flow = flows_.of(row);  // Counts what is not selected too.
    if (!run_.selection.holds(row.trial, row.step)) return;
    const auto phase = static_cast<std::size_t>(row.phase);
    const std::string_view name = phase < trace::kPhaseNames.size() ? trace::kPhaseNames[phase] : "unknown";
    const std::int64_t begin_ns = time_ns(row.begin_ns);
    out_.add(
        R"("ph": "X", "name": "{0}", "cat": "{0}", "pid": {1}, "tid": {2}, "ts": {3}, "dur": {4}, "args": )"
        R"({{"trial": {5}, "step": {6}, "peer": {7}, "shard": {8}, "tensor": {9}, "bytes": {10}}})",
        name, pid(), tid(line), micro(begin_ns), micro(time_ns(row.end_ns) - begin_ns), row.trial, row.step,
        row.peer, row.shard, escaped(tensor_of(run_, row.trial, row.shard)), row.bytes);
    if (!flow) return;
    constexpr std::string_view kKinds = "stf";
    out_.add(
        R"("ph": "{}", "bp": "e", "name": "bundle", "cat": "flow", "id": "0x{:x}", "pid": {}, "tid": {}, "ts": {})",
        kKinds[static_cast<std::size_t>(flow->kind)], flow->id, pid(), tid(line),
        micro(time_ns(flow->time_ns)));
  }

  /// Values of a window stand where it ends.
  void add(const trace::LoadRow& row) {
    if (!run_.selection.holds(row.trial)) return;
    const std::int64_t end_ns = time_ns(row.end_ns);
    count("pushes waiting at most", end_ns, fmt::format(R"("pushes": {})", row.queue_max));
    count("bytes per window", end_ns, fmt::format(R"("in": {}, "out": {})", row.bytes_in, row.bytes_out));
    count("busy ms per window", end_ns, fmt::format(R"("busy": {})", static_cast<double>(row.busy_ns) / 1e6));
  }

  void count(std::string_view name, std::int64_t at_ns, const std::string& values) {
    out_.add(R"("ph": "C", "name": "{}", "pid": {}, "ts": {}, "args": {{{}}})", name, pid(), micro(at_ns),
             values);
  }

  TraceFile& out_;
  const ExportedRun& run_;
  int rank_;
  const trace::RankReader& file_;
  Lines lines_;
  Flows flows_;
};

}  // namespace

Status write_perfetto(const ExportedRun& run, const std::string& path) {
  TraceFile out(path);
  if (!out.opened()) return Error{fmt::format("cannot be made: {}", std::strerror(errno))};
  nlohmann::json errors = nlohmann::json::object();
  for (const int rank : run.ranks) {
    const auto file = open_rank(run, rank);
    if (!file) return file.error();
    errors[std::to_string(rank)] = file.value().alignment().error_ns;
    if (auto written = Process(out, run, rank, file.value()).write(); !written) return written;
  }
  const nlohmann::json other = {{"run", run.tables.run_id},
                                {"model", run.tables.model},
                                {"validity", run.tables.validity},
                                {"clock_error_ns", errors}};
  return out.close(other.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace steelyard::cli
