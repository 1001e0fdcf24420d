// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/fit/files/bound_sockets.h"

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Linux writes these lines: fields, optional fields up to the dash, type, source, options.
TEST(MountTableTest, MountsAreSortedAndTheLastOneCounts) {
  EXPECT_THAT(ParseMountTable(
                  "30 27 0:5 / /home/my\\040data rw,noatime shared:1 master:2 - xfs /dev/sdb ro\n"
                  "22 27 0:21 / /proc rw - proc proc rw\n"
                  "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n"
                  "31 27 0:6 / /run ro - tmpfs none rw\n"
                  "32 31 0:7 / /run rw - tmpfs none rw\n"),
              ElementsAre(Mount{"/", "ext4", false}, Mount{"/home/my data", "xfs", true},
                          Mount{"/proc", "proc", false}, Mount{"/run", "tmpfs", false}));
}

TEST(MountTableTest, TruncatedLinesAreIgnored) {
  EXPECT_THAT(ParseMountTable("\n27 1 254:0 / / rw\n27 1 254:0 / / rw - ext4\nx"), IsEmpty());
}

TEST(MountTableTest, DevicesSharedMemoryAndControlGroupsBelongToTheKernel) {
  EXPECT_TRUE(IsKernelFileSystem({.path = "/dev/shm", .type = "tmpfs"}));
  EXPECT_TRUE(IsKernelFileSystem({.path = "/run/cgroup", .type = "cgroup2"}));
  EXPECT_FALSE(IsKernelFileSystem({.path = "/devices", .type = "ext4"}));
}

TEST(MountTableTest, FolderContainsItselfAndItsContents) {
  EXPECT_TRUE(IsWithin("/a", "/a"));
  EXPECT_TRUE(IsWithin("/a/b", "/a"));
  EXPECT_TRUE(IsWithin("/a", "/"));
  EXPECT_FALSE(IsWithin("/ab", "/a"));
  EXPECT_FALSE(IsWithin("/", "/a"));
}

TEST(BoundSocketsTest, NamedSocketsAreListedOnceAndAbstractOnesIgnored) {
  EXPECT_THAT(BoundSockets("Num RefCount Protocol Flags Type St Inode Path\n"
                           "0000: 00000002 00000000 00010000 0001 01 17 /run/a b.sock\n"
                           "0000: 00000002 00000000 00010000 0001 01 18 /run/a b.sock\n"
                           "0000: 00000002 00000000 00010000 0001 01 19 @abstract\n"
                           "0000: 00000003 00000000 00000000 0001 03 20\n"),
              ElementsAre("/run/a b.sock"));
}

}  // namespace
}  // namespace memtrace::fit
