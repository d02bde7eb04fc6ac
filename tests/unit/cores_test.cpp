#include "src/base/cores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace steelyard {
namespace {

namespace fs = std::filesystem;

/// A folder that looks like a mounted control group file system.
class Quota : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("steelyard-cores-test-" + std::to_string(::getpid()));
    fs::create_directories(root_ / "outer" / "inner");
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const { std::ofstream(root_ / path) << text; }
  std::string mount(const std::string& kind, const std::string& options) const {
    return kind + " " + root_.string() + " " + kind + " " + options + " 0 0\n";
  }

  fs::path root_;
};

TEST_F(Quota, OfVersion2IsTheNarrowestOnTheWayUp) {
  const std::string mounts = "proc /proc proc rw 0 0\n" + mount("cgroup2", "rw");
  write("outer/inner/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota("0::/outer/inner\n", mounts).cores, 1.5);
  write("outer/cpu.max", "20000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota("0::/outer/inner\n", mounts).cores, 0.2);
  write("outer/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota("0::/outer/inner\n", mounts).cores, 1.5);
}

TEST_F(Quota, OfVersion1IsReadFromTheCpuController) {
  const std::string mounts = mount("cgroup", "rw,cpuacct,cpu");
  write("outer/cpu.cfs_quota_us", "2000\n");
  write("outer/cpu.cfs_period_us", "10000\n");
  const CpuQuota quota = cpu_quota("4:memory:/other\n3:cpu,cpuacct:/outer\n", mounts);
  EXPECT_DOUBLE_EQ(quota.cores, 0.2);
  EXPECT_NE(quota.group, cpu_quota("3:cpu,cpuacct:/outer/inner\n", mounts).group);
  write("outer/cpu.cfs_quota_us", "-1\n");
  EXPECT_TRUE(std::isinf(cpu_quota("3:cpu,cpuacct:/outer\n", mounts).cores));
}

TEST_F(Quota, IsInfiniteWhereNothingIsMountedOrSaid) {
  EXPECT_TRUE(std::isinf(cpu_quota("0::/outer\n", "").cores));
  EXPECT_TRUE(std::isinf(cpu_quota("", mount("cgroup2", "rw")).cores));
  EXPECT_GT(cpu_quota().cores, 0.0);
}

TEST(Cores, BusyShareIsOfTheTimeBetweenReadings) {
  EXPECT_DOUBLE_EQ(busy_share({10, 100}, {40, 200}), 0.3);
  EXPECT_DOUBLE_EQ(busy_share({10, 100}, {10, 100}), 0.0);
  EXPECT_GT(core_times().total, 0);
}

}  // namespace
}  // namespace steelyard
