// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces that no allocator writes: a replay of any contents ends with a result.
#include <gtest/gtest.h>

#include <random>

#include "tests/tools/analysis/replay/listed_events.h"
#include "tools/analysis/replay/replay.h"

namespace memtrace::replay {
namespace {

class BrokenTracesTest : public testing::TestWithParam<int> {
 protected:
  // Returns one of few addresses, so that events meet; sometimes one that is not an address at all.
  DeviceAddress Address() {
    if (random_() % 50 == 0) return DeviceAddress{~uint64_t{0}} - random_() % 1_MiB;
    return DeviceAddress{1_GiB} + random_() % 12 * 2_MiB +
           (random_() % 4 == 0 ? random_() % 4096 * 512 : 0);
  }
  Bytes Size() {
    if (random_() % 60 == 0) return random_() % 2 == 0 ? 0 : ~Bytes{0} - random_() % 1024;
    return random_() % 3 == 0 ? (1 + random_() % 20) * 2_MiB : 1 + random_() % 4_MiB;
  }
  void AddEvent() {
    const uint64_t stream = random_() % 2;
    switch (random_() % 9) {
      case 0:
      case 1:
      case 2:
        events_.Allocate(Address(), Size(), stream);
        return;
      case 3:
        events_.Request(Address());
        return;
      case 4:
        events_.Complete(Address());
        return;
      case 5:
        events_.Map(Address(), Size(), stream);
        return;
      case 6:
        events_.Unmap(Address(), Size());
        return;
      case 7:
        events_.Fail(Size(), Size());
        return;
      default:
        AddAlive();
    }
  }
  void AddAlive() {
    trace::Alive alive;
    alive.block.address = Address().value();
    alive.block.requested = Size();
    alive.block.allocated = Size();
    alive.block.pool = random_() % 2;
    alive.waiting = random_() % 2;
    events_.Add(alive);
  }

  std::minstd_rand random_;
  ListedEvents events_;
};

TEST_P(BrokenTracesTest, AreReplayedToTheEnd) {
  random_.seed(static_cast<unsigned>(GetParam()));
  events_.Map(DeviceAddress{1_GiB}, 20_MiB).Allocate(DeviceAddress{1_GiB}, 1_MiB);
  for (int i = 0; i < 400; ++i) AddEvent();
  for (const char* settings : {"", "expandable_segments:True", "max_split_size_mb:30"}) {
    const RecordedRun run = RecordedRun::Of(events_, "native", settings);
    for (const char* name : {"torch-native", "torch-expandable", "memtrace", "lower-bound"}) {
      const ReplayResult result = Replay(events_, run, {PolicyOf(name).value(), std::nullopt, {}});
      ASSERT_EQ(result.devices.size(), 1u);
      EXPECT_GT(result.fullest().allocations, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BrokenTracesTest, testing::Range(1, 60));

}  // namespace
}  // namespace memtrace::replay
