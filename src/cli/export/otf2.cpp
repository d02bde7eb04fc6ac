#include "src/cli/export/selection.hpp"

#ifdef STEELYARD_OTF2

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "src/cli/export/timeline.hpp"

namespace steelyard::cli {
namespace {

constexpr std::uint64_t kLinesPerRank = 4096;
/// Regions are the phases, in their order, and the step.
constexpr auto kStepRegion = static_cast<std::uint32_t>(trace::kPhaseNames.size());
constexpr std::uint64_t kEventChunk = 1U << 20U;
constexpr std::uint64_t kDefinitionChunk = 4U << 20U;
constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;

struct Interval {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  std::uint32_t region;
};

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
constexpr OTF2_FlushCallbacks kFlushCallbacks = {flush, nullptr};

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
};
using Archive = std::unique_ptr<OTF2_Archive, CloseArchive>;

/// Enters and leaves of intervals that nest, by time; after an error of the library nothing more is written.
class Line {
 public:
  Line(OTF2_Archive* archive, std::uint64_t location)
      : archive_(archive), writer_(OTF2_Archive_GetEvtWriter(archive, location)) {}

  /// @return events written, or nothing where the library refused.
  std::optional<std::uint64_t> write(std::vector<Interval> intervals) {
    std::ranges::stable_sort(intervals, {},
                             [](const Interval& one) { return std::pair(one.begin_ns, -one.end_ns); });
    for (const Interval& one : intervals) {
      leave_until(one.begin_ns);
      emit(OTF2_EvtWriter_Enter, one.begin_ns, one.region);
      open_.push_back(one);
    }
    leave_until(std::numeric_limits<std::int64_t>::max());
    good_ = good_ && OTF2_Archive_CloseEvtWriter(archive_, writer_) == OTF2_SUCCESS;
    return good_ ? std::optional(events_) : std::nullopt;
  }

 private:
  template <typename Event>
  void emit(Event event, std::int64_t time_ns, std::uint32_t region) {
    last_ns_ =
        std::max(last_ns_, time_ns);  // A damaged file may not nest; the library wants ascending times.
    good_ = good_ && event(writer_, nullptr, static_cast<OTF2_TimeStamp>(last_ns_), region) == OTF2_SUCCESS;
    ++events_;
  }
  void leave_until(std::int64_t time_ns) {
    for (; !open_.empty() && open_.back().end_ns <= time_ns; open_.pop_back())
      emit(OTF2_EvtWriter_Leave, open_.back().end_ns, open_.back().region);
  }

  OTF2_Archive* archive_;
  OTF2_EvtWriter* writer_;
  std::vector<Interval> open_;
  std::int64_t last_ns_ = 0;
  std::uint64_t events_ = 0;
  bool good_ = true;
};

/// What the definitions say of a rank.
struct Located {
  int rank = 0;
  std::string role;
  std::string host;
  std::vector<std::uint64_t> events;  ///< [lines]
};

/// The intervals of a rank by line, of what is selected, on the common clock. In memory, since the format
/// wants them in order of their begins.
Expected<std::vector<std::vector<Interval>>> intervals_of(const ExportedRun& run,
                                                          const trace::RankReader& file) {
  std::vector<std::vector<Interval>> lines(1);
  const auto time_ns = [&](std::int64_t own_ns) {
    return std::max<std::int64_t>(file.alignment()(own_ns) - run.base_ns, 0);
  };
  const auto add_step = [&](const trace::StepRow& row) {
    if (run.selection.holds(row.trial, row.step))
      lines[Lines::kMain].push_back({time_ns(row.begin_ns), time_ns(row.end_ns), kStepRegion});
  };
  if (auto read = file.each<trace::StepRow>(add_step); !read) return read.error();
  Lines chosen;
  const auto add_event = [&](const trace::EventRow& row) {
    const auto line = static_cast<std::size_t>(chosen.of(row));
    if (!run.selection.holds(row.trial, row.step)) return;
    lines.resize(std::max(lines.size(), line + 1));
    lines[line].push_back(
        {time_ns(row.begin_ns), time_ns(row.end_ns), static_cast<std::uint32_t>(row.phase)});
  };
  if (auto read = file.each<trace::EventRow>(add_event); !read) return read.error();
  return lines;
}

/// Global definitions; strings are numbered as they come.
class Definitions {
 public:
  explicit Definitions(OTF2_Archive* archive) : writer_(OTF2_Archive_GetGlobalDefWriter(archive)) {}

  void write_clock(std::int64_t length_ns, std::int64_t unix_ns) {
    OTF2_GlobalDefWriter_WriteClockProperties(
        writer_, kTicksPerSecond, 0, static_cast<std::uint64_t>(length_ns) + 1,
        unix_ns > 0 ? static_cast<std::uint64_t>(unix_ns) : OTF2_UNDEFINED_TIMESTAMP);
  }
  void write_regions() {
    const std::uint32_t none = text("");
    for (std::uint32_t region = 0; region <= kStepRegion; ++region) {
      const std::uint32_t name =
          text(region == kStepRegion ? "step" : std::string(trace::kPhaseNames[region]));
      OTF2_GlobalDefWriter_WriteRegion(writer_, region, name, name, none, OTF2_REGION_ROLE_CODE,
                                       OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, none, 0, 0);
    }
  }
  void write(const Located& one) {
    const auto [host, fresh] = hosts_.try_emplace(one.host, static_cast<std::uint32_t>(hosts_.size()));
    if (fresh)
      OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, host->second, text(one.host), text("host"),
                                               OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    const auto group = static_cast<std::uint32_t>(one.rank);
    OTF2_GlobalDefWriter_WriteLocationGroup(
        writer_, group, text(fmt::format("{} (rank {})", one.role, one.rank)),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, host->second, OTF2_UNDEFINED_LOCATION_GROUP);
    for (std::size_t line = 0; line < one.events.size(); ++line)
      OTF2_GlobalDefWriter_WriteLocation(writer_, group * kLinesPerRank + line,
                                         text(line == 0 ? "phases" : fmt::format("transfers {}", line)),
                                         OTF2_LOCATION_TYPE_CPU_THREAD, one.events[line], group);
  }

 private:
  std::uint32_t text(const std::string& value) {
    const auto [found, fresh] = texts_.try_emplace(value, static_cast<std::uint32_t>(texts_.size()));
    if (fresh) OTF2_GlobalDefWriter_WriteString(writer_, found->second, value.c_str());
    return found->second;
  }

  OTF2_GlobalDefWriter* writer_;
  std::map<std::string, std::uint32_t> texts_;
  std::map<std::string, std::uint32_t> hosts_;
};

/// @param[in,out] last_ns the last time of all.
Expected<Located> write_events(OTF2_Archive* archive, const ExportedRun& run, int rank,
                               std::int64_t& last_ns) {
  const auto file = open_rank(run, rank);
  if (!file) return file.error();
  auto lines = intervals_of(run, file.value());
  if (!lines) return lines.error();
  Located located{rank, role_text(run, rank), file.value().host(), {}};
  for (auto& intervals : lines.value()) {
    for (const Interval& one : intervals) last_ns = std::max(last_ns, one.end_ns);
    const std::uint64_t location = static_cast<std::uint64_t>(rank) * kLinesPerRank + located.events.size();
    const auto events = Line(archive, location).write(std::move(intervals));
    if (!events) return Error{fmt::format("the OTF2 library cannot write the events of rank {}", rank)};
    located.events.push_back(*events);
  }
  return located;
}

/// A file of local definitions, empty here, has to be there for each location.
void write_local_definitions(OTF2_Archive* archive, const std::vector<Located>& ranks) {
  OTF2_Archive_OpenDefFiles(archive);
  for (const Located& one : ranks)
    for (std::size_t line = 0; line < one.events.size(); ++line)
      OTF2_Archive_CloseDefWriter(
          archive,
          OTF2_Archive_GetDefWriter(archive, static_cast<std::uint64_t>(one.rank) * kLinesPerRank + line));
  OTF2_Archive_CloseDefFiles(archive);
}

}  // namespace

Status otf2_available() { return success(); }

Status write_otf2(const ExportedRun& run, const std::string& directory) {
  Archive archive(OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventChunk,
                                    kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE));
  if (!archive || OTF2_Archive_SetFlushCallbacks(archive.get(), &kFlushCallbacks, nullptr) != OTF2_SUCCESS ||
      OTF2_Archive_SetSerialCollectiveCallbacks(archive.get()) != OTF2_SUCCESS ||
      OTF2_Archive_OpenEvtFiles(archive.get()) != OTF2_SUCCESS)
    return Error{"the OTF2 library cannot make an archive there"};
  std::vector<Located> ranks;
  std::int64_t last_ns = 0;
  for (const int rank : run.ranks) {
    auto located = write_events(archive.get(), run, rank, last_ns);
    if (!located) return located.error();
    ranks.push_back(std::move(located).value());
  }
  OTF2_Archive_CloseEvtFiles(archive.get());
  write_local_definitions(archive.get(), ranks);
  Definitions definitions(archive.get());
  definitions.write_clock(last_ns, run.epoch_unix_ns + run.base_ns);
  definitions.write_regions();
  for (const Located& one : ranks) definitions.write(one);
  if (OTF2_Archive_Close(archive.release()) != OTF2_SUCCESS)
    return Error{"the OTF2 library cannot end the archive"};
  return success();
}

}  // namespace steelyard::cli

#else

namespace steelyard::cli {

Status otf2_available() {
  return Error{
      "--otf2: this program was built without the OTF2 library; install libotf2-trace-dev and build again, "
      "or use "
      "--perfetto"};
}

Status write_otf2(const ExportedRun&, const std::string&) { return otf2_available().error(); }

}  // namespace steelyard::cli

#endif
