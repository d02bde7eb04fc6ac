#pragma once

/// @file
/// What this process may use of the machine's cores, and how busy they are.

#include <cstdint>
#include <string>

namespace steelyard {

/// A limit of CPU time by control groups.
struct CpuQuota {
  double cores = 0.0;  ///< At most this much at once; infinite without a limit.
  std::string group;   ///< Processes of a machine with equal text share the limit.
};

/// Of this process: the narrowest limit among its control group and the ones above, version 1 or 2.
CpuQuota cpu_quota();
/// The same from the texts of /proc/self/cgroup and /proc/self/mounts.
CpuQuota cpu_quota(const std::string& cgroup, const std::string& mounts);

/// Of all cores since the machine's start, in its own unit; zero where the system does not say.
struct CoreTimes {
  std::int64_t busy = 0;
  std::int64_t total = 0;
};
CoreTimes core_times();
/// @return busy share of all cores between two readings, 0 to 1.
double busy_share(const CoreTimes& before, const CoreTimes& after);

/// The same text for all processes under one kernel since its start, other texts elsewhere.
std::string machine_id();

}  // namespace steelyard
