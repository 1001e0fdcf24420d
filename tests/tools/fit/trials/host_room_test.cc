// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/host_room.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(HostRoomTest, NothingIsKnownBeforeTheFirstRun) {
  const HostRoom room([] { return 100 * kGiB; });
  EXPECT_FALSE(room.HasRoomBeside(0));
}

TEST(HostRoomTest, RunsMayAllGrowToTheLargestSeenAndAsMuchStaysFree) {
  uint64_t available = 24 * kGiB;
  HostRoom room([&available] { return available; });
  room.Begin();
  available = 16 * kGiB;  // the run takes 8
  room.Sample();
  available = 24 * kGiB;
  room.Sample();
  EXPECT_TRUE(room.HasRoomBeside(1));
  EXPECT_FALSE(room.HasRoomBeside(2));
  available = 24 * kGiB - 1;
  EXPECT_FALSE(room.HasRoomBeside(1));
}

TEST(HostRoomTest, LargestRunCounts) {
  HostRoom room([] { return 24 * kGiB; });
  room.NoteHeld(2 * kGiB);
  EXPECT_TRUE(room.HasRoomBeside(10));
  room.NoteHeld(9 * kGiB);
  EXPECT_FALSE(room.HasRoomBeside(1));
  room.NoteHeld(1 * kGiB);
  EXPECT_FALSE(room.HasRoomBeside(1));
}

TEST(HostRoomTest, MemoryThatAnotherProgramGaveBackIsNotTaken) {
  uint64_t available = 8 * kGiB;
  HostRoom room([&available] { return available; });
  room.Begin();
  available = 10 * kGiB;
  room.Sample();
  EXPECT_FALSE(room.HasRoomBeside(0));  // still nothing is known
}

}  // namespace
}  // namespace memtrace::fit
