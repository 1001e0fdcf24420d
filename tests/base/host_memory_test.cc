// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "base/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace memtrace {
namespace {

namespace fs = std::filesystem;

// Files of the kernel as a machine of 64 GiB has them, of which 40 GiB are available.
class HostMemoryTest : public testing::Test {
 protected:
  HostMemoryTest() {
    Write("/proc/meminfo",
          "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable: 41943040 kB\n");
  }
  ~HostMemoryTest() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void WriteGroup(const std::string& folder, const std::string& max, Bytes current,
                  Bytes inactive_file) const {
    Write(folder + "/memory.max", max + "\n");
    Write(folder + "/memory.current", std::to_string(current) + "\n");
    Write(folder + "/memory.stat",
          "anon 1\nfile 2\ninactive_file " + std::to_string(inactive_file) + "\nactive_file 3\n");
  }
  HostMemory Read() const { return ReadHostMemory(root_); }

 private:
  std::string root_ = testing::TempDir() + "host_memory_test";
};

TEST_F(HostMemoryTest, WithoutGroupsTheMachineIsTheLimit) {
  EXPECT_EQ(Read().total, 64_GiB);
  EXPECT_EQ(Read().available, 40_GiB);
}

TEST_F(HostMemoryTest, LimitOfTheOwnGroupCounts) {
  Write("/proc/self/cgroup", "0::/slurm/job_7\n");
  WriteGroup("/sys/fs/cgroup/slurm/job_7", std::to_string(16_GiB), 6_GiB, 0);
  EXPECT_EQ(Read().total, 16_GiB);
  EXPECT_EQ(Read().available, 10_GiB);
}

TEST_F(HostMemoryTest, SmallestLimitOfAllGroupsAroundCounts) {
  Write("/proc/self/cgroup", "0::/user.slice/session\n");
  WriteGroup("/sys/fs/cgroup/user.slice/session", "max", 1_GiB, 0);
  WriteGroup("/sys/fs/cgroup/user.slice", std::to_string(8_GiB), 5_GiB, 0);
  EXPECT_EQ(Read().total, 8_GiB);
  EXPECT_EQ(Read().available, 3_GiB);
}

TEST_F(HostMemoryTest, FilesThatTheKernelDropsFirstAreAvailable) {
  Write("/proc/self/cgroup", "0::/\n");
  WriteGroup("/sys/fs/cgroup", std::to_string(8_GiB), 8_GiB, 5_GiB);
  EXPECT_EQ(Read().available, 5_GiB);
}

TEST_F(HostMemoryTest, ContainerThatSeesOnlyItsOwnGroupsIsLimitedByThem) {
  Write("/proc/self/cgroup", "0::/kubepods/pod1/abc\n");
  WriteGroup("/sys/fs/cgroup", std::to_string(4_GiB), 1_GiB, 0);
  EXPECT_EQ(Read().total, 4_GiB);
  EXPECT_EQ(Read().available, 3_GiB);
}

TEST_F(HostMemoryTest, GroupsOfVersionOneCount) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a\n1:name=systemd:/a\n0::/\n");
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", std::to_string(2_GiB));
  Write("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", std::to_string(1_GiB));
  Write("/sys/fs/cgroup/memory/a/memory.stat", "cache 7\ntotal_inactive_file 1024\n");
  EXPECT_EQ(Read().total, 2_GiB);
  EXPECT_EQ(Read().available, 1_GiB + 1_KiB);
}

TEST_F(HostMemoryTest, GroupThatHasMoreThanItsLimitLeavesNothing) {
  Write("/proc/self/cgroup", "0::/\n");
  WriteGroup("/sys/fs/cgroup", std::to_string(1_GiB), 2_GiB, 0);
  EXPECT_EQ(Read().available, 0U);
}

TEST(HostMemoryOfThisMachineTest, HasSomeLeft) {
  const HostMemory here = ReadHostMemory();
  EXPECT_GT(here.available, 0U);
  EXPECT_LE(here.available, here.total);
}

}  // namespace
}  // namespace memtrace
