// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/checks/consistency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace memtrace::analysis {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using trace::Payload;

constexpr uint64_t kBase = 0x1000;

class ConsistencyTest : public testing::Test {
 protected:
  std::string Happens(const Payload& payload) {
    ++sequence_;
    return consistency_.Apply({.sequence = sequence_, .time_ns = sequence_, .payload = payload});
  }
  std::string Allocate(uint64_t address, uint64_t bytes) {
    return Happens(trace::Allocate{.address = address, .requested = bytes, .allocated = bytes});
  }

  Consistency consistency_{/*begins_blind=*/false};
  uint64_t sequence_ = 0;
};

TEST_F(ConsistencyTest, ConsistentRunHasNoFaults) {
  EXPECT_THAT(Happens(trace::Map{.address = kBase, .size = 0x1000}), IsEmpty());
  EXPECT_THAT(Happens(trace::Map{.address = kBase + 0x1000, .size = 0x1000}), IsEmpty());
  EXPECT_THAT(Allocate(kBase, 0x1800), IsEmpty());
  EXPECT_THAT(Allocate(kBase + 0x1800, 0x200), IsEmpty());
  EXPECT_THAT(Happens(trace::CardSample{{.reserved = 0x2000}}), IsEmpty());
  EXPECT_THAT(Happens(trace::FreeRequested{.address = kBase}), IsEmpty());
  EXPECT_THAT(Happens(trace::FreeCompleted{.address = kBase}), IsEmpty());
  EXPECT_THAT(Happens(trace::Unmap{.address = kBase, .size = 0x1800}), IsEmpty());
}

TEST_F(ConsistencyTest, BlocksMustNotOverlapUntilTheirFreeIsCompleted) {
  Allocate(kBase, 0x400);
  Happens(trace::FreeRequested{.address = kBase});
  EXPECT_THAT(Allocate(kBase + 0x200, 0x400),
              HasSubstr("where the block at 0x1000 is still in use"));
  Allocate(0x8000, 0x400);
  EXPECT_THAT(Allocate(0x7f00, 0x800), HasSubstr("0x8000 is still in use"));
  EXPECT_THAT(Happens(trace::Allocate{.device = 1, .address = 0x7f00, .allocated = 8}), IsEmpty());
}

TEST_F(ConsistencyTest, OnlyLiveBlocksAreFreedAndOnlyOnce) {
  EXPECT_THAT(Happens(trace::FreeRequested{.address = kBase}),
              HasSubstr("it frees 0x1000 of card 0, where no block is in use"));
  EXPECT_THAT(Happens(trace::FreeCompleted{.address = kBase}), HasSubstr("completes the free"));
  Allocate(kBase, 512);
  Happens(trace::FreeRequested{.address = kBase});
  EXPECT_THAT(Happens(trace::FreeRequested{.address = kBase}), HasSubstr("a second time"));
}

TEST_F(ConsistencyTest, BlocksMustLieInMappedMemory) {
  EXPECT_THAT(Allocate(kBase, 512), IsEmpty());  // none is reported
  Happens(trace::Map{.address = 0x10000, .size = 0x1000});
  EXPECT_THAT(Allocate(0x10800, 0x1000), HasSubstr("which are not all mapped"));
  EXPECT_THAT(Happens(trace::Map{.address = 0x10800, .size = 0x1000}), HasSubstr("already mapped"));
  EXPECT_THAT(Happens(trace::Unmap{.address = 0x40000, .size = 0x1000}), HasSubstr("not mapped"));
  EXPECT_THAT(Happens(trace::Unmap{.address = 0x10000, .size = 0x1000}),
              HasSubstr("where the block at 0x10800 is in use"));
}

TEST_F(ConsistencyTest, ReservedBytesOfASampleMustEqualMappedBytes) {
  Happens(trace::Map{.address = kBase, .size = 0x1000});
  EXPECT_THAT(Happens(trace::CardSample{{.reserved = 0x2000}}),
              HasSubstr("it says that 8192 bytes of card 0 are reserved, but 4096 are mapped"));
  EXPECT_THAT(Happens(trace::OutOfMemory{.cards = {{.reserved = 1}}}), HasSubstr("says that 1 "));
}

TEST_F(ConsistencyTest, SequenceAndTimeMustNotGoBack) {
  Happens(trace::Step{});
  EXPECT_THAT(consistency_.Apply({.sequence = 1, .time_ns = 0, .payload = trace::Step{}}),
              HasSubstr("is older than an event before"));
  EXPECT_THAT(consistency_.Apply({.sequence = 0, .time_ns = 5, .payload = trace::Step{}}),
              HasSubstr("is older than an event before"));
}

TEST_F(ConsistencyTest, OutsideMemoryIsFreedOncePerKind) {
  EXPECT_THAT(Happens(trace::OutsideAllocate{.address = 7}), IsEmpty());
  EXPECT_THAT(Happens(trace::OutsideAllocate{.address = 7, .kind = trace::OutsideKind::kPhysical}),
              IsEmpty());
  EXPECT_THAT(Happens(trace::OutsideFree{.address = 7}), IsEmpty());
  EXPECT_THAT(Happens(trace::OutsideFree{.address = 7}), HasSubstr("that was not taken"));
}

TEST_F(ConsistencyTest, FaultsExplainedByLostEventsAreIgnored) {
  Happens(trace::Lost{.events = 1});
  EXPECT_THAT(Happens(trace::FreeRequested{.address = kBase}), IsEmpty());
  EXPECT_THAT(consistency_.Apply({.sequence = 0, .time_ns = 0, .payload = trace::Step{}}),
              HasSubstr("is older than an event before"));
}

}  // namespace
}  // namespace memtrace::analysis
