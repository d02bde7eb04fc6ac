#include "src/trace/staleness.hpp"

#include <algorithm>
#include <map>

#include "src/trace/measured.hpp"

namespace steelyard::trace {
namespace {

constexpr double kMs = 1e6;

/// Sums of rows that belong together.
struct Sums {
  std::uint64_t pushes = 0;
  double staleness = 0.0;
  double age_ns = 0.0;
  std::int64_t max = 0;

  void add(const StalenessRow& row) {
    const auto count = static_cast<double>(row.count);
    pushes += row.count;
    staleness += count * row.staleness;
    age_ns += static_cast<double>(row.age_ns);
    max = std::max<std::int64_t>(max, row.staleness);
  }
  StalenessPart part() const {
    const auto count = static_cast<double>(std::max<std::uint64_t>(pushes, 1));
    return {pushes, staleness / count, max, age_ns / count / kMs};
  }
};

/// The p-quantile by nearest rank of values that occur as often as `counts` says; 0 of none.
double weighted_quantile(const std::map<double, std::uint64_t>& counts, double p) {
  double total = 0.0;
  for (const auto& [value, count] : counts) total += static_cast<double>(count);
  double seen = 0.0;
  for (const auto& [value, count] : counts) {
    seen += static_cast<double>(count);
    if (seen >= p * total) return value;
  }
  return 0.0;
}

template <typename Key>
std::vector<StalenessPart> parts_of(const std::map<Key, Sums>& all) {
  std::vector<StalenessPart> parts;
  for (const auto& [key, sums] : all) parts.push_back(sums.part());
  return parts;
}

std::int64_t greatest_skew(const TrialData& trial) {
  std::int64_t skew = 0;
  for (const RankTrial& rank : trial.ranks) {
    for (const StalenessRow& row : rank.stalenesses) skew = std::max<std::int64_t>(skew, row.skew_max);
    for (const ReadRow& row : rank.reads) skew = std::max<std::int64_t>(skew, row.skew);
  }
  return skew;
}

/// Whether an index out of a file is one of `count`.
bool is_index(std::int64_t index, std::size_t count) {
  return index >= 0 && static_cast<std::size_t>(index) < count;
}

}  // namespace

StalenessSummary staleness_summary(const TrialData& trial) {
  const auto servers = ranks_with(trial, "server");
  const std::size_t workers = ranks_with(trial, "worker").size();
  Sums all;
  std::map<std::int32_t, Sums> by_staleness;
  std::vector<Sums> by_worker(workers);
  std::vector<Sums> by_server(servers.size());
  std::map<double, std::uint64_t> ages;
  std::map<double, std::uint64_t> counts;
  for (std::size_t server = 0; server < servers.size(); ++server)
    for (const StalenessRow& row : servers[server]->stalenesses) {
      if (row.count == 0) continue;
      all.add(row);
      by_staleness[row.staleness].add(row);
      by_server[server].add(row);
      if (is_index(row.worker, workers)) by_worker[static_cast<std::size_t>(row.worker)].add(row);
      ages[static_cast<double>(row.age_ns) / static_cast<double>(row.count) / kMs] += row.count;
      counts[row.staleness] += row.count;
    }
  StalenessSummary out;
  const StalenessPart whole = all.part();
  out.median = weighted_quantile(counts, 0.5);
  out.p95 = weighted_quantile(counts, 0.95);
  out.max = whole.max;
  out.mean = whole.mean;
  out.mean_age_ms = whole.mean_age_ms;
  out.p95_age_ms = weighted_quantile(ages, 0.95);
  out.max_skew = greatest_skew(trial);
  for (const Sums& one : by_worker) out.by_worker.push_back(one.part());
  for (const Sums& one : by_server) out.by_server.push_back(one.part());
  out.histogram = parts_of(by_staleness);
  return out;
}

DropSummary drop_summary(const TrialData& trial) {
  const auto servers = ranks_with(trial, "server");
  DropSummary out;
  out.by_worker.resize(ranks_with(trial, "worker").size());
  double pushes = 0.0;
  double dropped = 0.0;
  for (const RankTrial* server : servers) {
    for (const LoadRow& row : server->loads) {
      pushes += static_cast<double>(row.pushes);
      dropped += static_cast<double>(row.dropped);
    }
    std::uint64_t here = 0;
    for (const DropCount& one : server->drops) {
      here += one.pushes;
      // A file may hold a reason or a worker that this program does not know.
      if (const auto reason = static_cast<std::size_t>(one.reason); reason < out.by_reason.size())
        out.by_reason[reason] += one.pushes;
      if (is_index(one.worker, out.by_worker.size()))
        out.by_worker[static_cast<std::size_t>(one.worker)] += one.pushes;
    }
    out.by_server.push_back(here);
  }
  out.share = pushes > 0.0 ? dropped / pushes : 0.0;
  return out;
}

}  // namespace steelyard::trace
