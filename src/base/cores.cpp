#include "src/base/cores.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace steelyard {
namespace {

namespace fs = std::filesystem;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

std::string file_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// Where version 2, or the cpu controller of version 1, is mounted; empty if it is not.
std::string mount_point(const std::string& mounts, bool second_version) {
  std::istringstream lines(mounts);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string device, where, kind, options;
    fields >> device >> where >> kind >> options;
    if (second_version ? kind == "cgroup2" : kind == "cgroup" && has_word(options, "cpu")) return where;
  }
  return "";
}

/// "max 100000" or "20000 100000", in microseconds.
double version_2_limit(const fs::path& group) {
  std::istringstream text(file_text(group / "cpu.max"));
  double quota = 0.0;
  double period = 0.0;
  return text >> quota >> period && period > 0.0 ? quota / period : kNoLimit;
}

double version_1_limit(const fs::path& group) {
  std::istringstream quota_text(file_text(group / "cpu.cfs_quota_us"));
  std::istringstream period_text(file_text(group / "cpu.cfs_period_us"));
  double quota = 0.0;
  double period = 0.0;
  return quota_text >> quota && period_text >> period && quota > 0.0 && period > 0.0 ? quota / period
                                                                                     : kNoLimit;
}

void narrow(CpuQuota& quota, const std::string& mount, const std::string& group,
            double (*limit)(const fs::path&)) {
  if (mount.empty()) return;
  quota.group += group + ";";
  fs::path relative = fs::path(group).relative_path();
  for (;; relative = relative.parent_path()) {
    quota.cores = std::min(quota.cores, limit(fs::path(mount) / relative));
    if (relative.empty()) return;
  }
}

}  // namespace

CpuQuota cpu_quota(const std::string& cgroup, const std::string& mounts) {
  CpuQuota quota{kNoLimit, ""};
  std::istringstream lines(cgroup);
  std::string line;
  while (std::getline(lines, line)) {
    // "3:cpu,cpuacct:/group"; version 2 is "0::/group".
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      narrow(quota, mount_point(mounts, true), group, version_2_limit);
    else if (has_word(controllers, "cpu"))
      narrow(quota, mount_point(mounts, false), group, version_1_limit);
  }
  return quota;
}

CpuQuota cpu_quota() { return cpu_quota(file_text("/proc/self/cgroup"), file_text("/proc/self/mounts")); }

CoreTimes core_times() {
  std::ifstream file("/proc/stat");
  std::string name;
  // user, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen by other guests
  std::int64_t ticks[8] = {};
  file >> name;
  CoreTimes times;
  for (std::int64_t& one : ticks) {
    file >> one;
    times.total += one;
  }
  times.busy = times.total - ticks[3] - ticks[4];
  return times;
}

double busy_share(const CoreTimes& before, const CoreTimes& after) {
  const auto total = static_cast<double>(after.total - before.total);
  return total > 0.0 ? static_cast<double>(after.busy - before.busy) / total : 0.0;
}

std::string machine_id() { return file_text("/proc/sys/kernel/random/boot_id"); }

}  // namespace steelyard
