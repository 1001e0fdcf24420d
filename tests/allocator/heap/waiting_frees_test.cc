// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/parts/waiting_frees.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/device_heap.h"
#include "allocator/pools/quick_groups.h"

namespace memtrace {
namespace {

using Repeat = CallFailures::Repeat;

constexpr StreamId kOwnStream{1};
constexpr StreamId kSide{2};
constexpr StreamId kOther{3};
constexpr PoolId kPool{7, 1};
constexpr Bytes kSize = 4_MiB;

// The waiting frees of a heap whose blocks belong to kOwnStream.
class WaitingFreesTest : public ::testing::Test {
 protected:
  // Returns a block in use on which work of `stream` is queued.
  Block* Share(StreamId stream) {
    const AllocationResult result = heap_.Allocate({.bytes = kSize, .stream = kOwnStream}, kSize);
    const auto address = std::get<DeviceAddress>(result);
    streams_.Queue(stream);
    EXPECT_TRUE(heap_.RecordStream(address, stream).ok());
    return heap_.groups().OwnerOf(address)->blocks().Find(address);
  }
  Block* FreeShared(StreamId stream) {
    Block* block = Share(stream);
    waiting_.Add(block);
    return block;
  }
  void BeginRouting() {
    heap_.pools().Retain(kPool);
    EXPECT_TRUE(heap_.pools().BeginRouting(kPool, [](StreamId) { return true; }).ok());
  }
  void EndRouting() { EXPECT_TRUE(heap_.pools().EndRouting(kPool).ok()); }
  // Captures the two streams into one graph.
  void CaptureBoth() {
    streams_.BeginCapture(kOwnStream);
    streams_.Queue(kOwnStream);
    streams_.WaitInCapture(kSide, kOwnStream);
  }
  void EndCaptures() {
    streams_.EndCapture(kOwnStream);
    streams_.EndCapture(kSide);
  }

  static bool Waits(const Block* block) { return block->is(Block::State::kPendingFree); }
  uint64_t Records() const { return failures_.calls(DriverCall::kRecord); }

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  MemoryVmm vmm_{{.capacity = 64_MiB}};
  AllocationObserver silent_;
  QuickGroups quick_;
  DeviceHeap heap_{{.captures = &streams_}, vmm_, streams_, silent_, quick_};
  WaitingFrees& waiting_ = heap_.waiting();
};

TEST_F(WaitingFreesTest, BlockIsReturnedOnceTheOtherStreamIsDone) {
  const Block* block = FreeShared(kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_TRUE(Waits(block));
  EXPECT_TRUE(waiting_.has_pending());
  streams_.Finish(kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_TRUE(block->is(Block::State::kFree));
  EXPECT_TRUE(waiting_.empty());
  heap_.CheckInvariants();
}

TEST_F(WaitingFreesTest, NoDriverCallIsMadeWithoutWaitingFrees) {
  const uint64_t calls = failures_.calls();
  waiting_.CompleteDone(kOwnStream);
  waiting_.ResumePostponed();
  waiting_.CompletePostponed();
  EXPECT_TRUE(waiting_.CompleteAllOf(nullptr).ok());
  EXPECT_EQ(failures_.calls(), calls);
}

TEST_F(WaitingFreesTest, FailedEventIsRecordedAgain) {
  failures_.FailNth(DriverCall::kRecord, 1, Repeat::kOnce, absl::InternalError("injected"));
  const Block* block = FreeShared(kSide);
  EXPECT_TRUE(Waits(block));
  EXPECT_FALSE(waiting_.has_pending());
  EXPECT_FALSE(waiting_.empty());
  streams_.Finish(kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_FALSE(Waits(block));
  EXPECT_TRUE(waiting_.empty());
}

TEST_F(WaitingFreesTest, PermanentlyFailingEventIsReplacedByWaitingForAll) {
  failures_.FailNth(DriverCall::kRecord, 1, Repeat::kFromThenOn, absl::InternalError("injected"));
  const Block* block = FreeShared(kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_TRUE(Waits(block));
  waiting_.CompletePostponed();
  EXPECT_FALSE(Waits(block));
  EXPECT_TRUE(waiting_.empty());
}

TEST_F(WaitingFreesTest, FailedSynchronizationCompletesNothing) {
  failures_.FailNth(DriverCall::kRecord, 1, Repeat::kOnce, absl::InternalError("injected"));
  const Block* put_off = FreeShared(kSide);
  failures_.FailNth(DriverCall::kWait, 1, Repeat::kOnce, absl::InternalError("injected"));
  waiting_.CompletePostponed();
  EXPECT_TRUE(Waits(put_off));
  waiting_.ResumePostponed();
  failures_.FailNth(DriverCall::kWait, 1, Repeat::kOnce, absl::InternalError("injected"));
  EXPECT_FALSE(waiting_.CompleteNext().ok());
  EXPECT_TRUE(Waits(put_off));
  EXPECT_TRUE(waiting_.CompleteNext().ok());
  EXPECT_FALSE(Waits(put_off));
}

TEST_F(WaitingFreesTest, CapturedStreamGetsNoEventUntilRoutingHasEnded) {
  Block* block = Share(kSide);
  BeginRouting();
  streams_.BeginCapture(kSide);
  waiting_.Add(block);
  waiting_.CompleteDone(kOwnStream);
  waiting_.CompletePostponed();
  streams_.EndCapture(kSide);
  waiting_.ResumePostponed();
  EXPECT_TRUE(Waits(block));
  EXPECT_EQ(Records(), 0u);
  EndRouting();
  waiting_.ResumePostponed();
  EXPECT_EQ(Records(), 1u);
  EXPECT_TRUE(waiting_.has_pending());
}

TEST_F(WaitingFreesTest, NothingIsWaitedForDuringRoutingOrCapture) {
  failures_.FailNth(DriverCall::kRecord, 1, Repeat::kOnce, absl::InternalError("injected"));
  const Block* block = FreeShared(kSide);
  BeginRouting();
  waiting_.CompletePostponed();
  EndRouting();
  streams_.BeginCapture(kOwnStream);
  waiting_.CompletePostponed();
  EXPECT_TRUE(Waits(block));
  EXPECT_EQ(failures_.calls(DriverCall::kWait), 0u);
  streams_.EndCapture(kOwnStream);
  waiting_.CompletePostponed();
  EXPECT_FALSE(Waits(block));
}

TEST_F(WaitingFreesTest, StreamThatIsNotCapturedGetsItsEventDuringRouting) {
  Block* block = Share(kSide);
  BeginRouting();
  streams_.BeginCapture(kOther);
  waiting_.Add(block);
  EXPECT_TRUE(waiting_.has_pending());
  EXPECT_EQ(Records(), 1u);
  streams_.EndCapture(kOther);
}

TEST_F(WaitingFreesTest, BlockOfARoutedPoolIsReturnedOnceItsStreamHasJoined) {
  waiting_.captures().SetEnabled(true);
  BeginRouting();
  CaptureBoth();
  const Block* block = FreeShared(kSide);
  streams_.Queue(kOwnStream);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_TRUE(Waits(block));
  streams_.WaitInCapture(kOwnStream, kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_FALSE(Waits(block));
  EXPECT_TRUE(waiting_.empty());
  EXPECT_EQ(Records(), 0u);
  EndCaptures();
}

TEST_F(WaitingFreesTest, BlockOfTheDefaultPoolIsNotReturnedWithinACapture) {
  waiting_.captures().SetEnabled(true);
  Block* block = Share(kSide);
  BeginRouting();
  CaptureBoth();
  streams_.Queue(kSide);
  waiting_.Add(block);
  streams_.WaitInCapture(kOwnStream, kSide);
  waiting_.CompleteDone(kOwnStream);
  EXPECT_TRUE(Waits(block));
  EndCaptures();
}

TEST_F(WaitingFreesTest, OldestEventIsAwaitedFirst) {
  const Block* first = FreeShared(kOther);
  const Block* second = FreeShared(kSide);
  ASSERT_TRUE(waiting_.CompleteNext().ok());
  EXPECT_FALSE(Waits(first));
  EXPECT_TRUE(Waits(second));
  ASSERT_TRUE(waiting_.CompleteNext().ok());
  EXPECT_FALSE(Waits(second));
}

TEST_F(WaitingFreesTest, WaitingForAPoolLeavesYoungerFreesOfOtherPools) {
  const Block* older = FreeShared(kSide);
  BeginRouting();
  const Block* of_pool = FreeShared(kSide);
  EndRouting();
  const Block* younger = FreeShared(kSide);
  ASSERT_TRUE(waiting_.CompleteAllOf(&kPool).ok());
  EXPECT_FALSE(Waits(older));
  EXPECT_FALSE(Waits(of_pool));
  EXPECT_TRUE(Waits(younger));
  ASSERT_TRUE(waiting_.CompleteAllOf(nullptr).ok());
  EXPECT_FALSE(Waits(younger));
}

TEST_F(WaitingFreesTest, DrainWaitsForAllEventsAndReturnsNoBlock) {
  const Block* block = FreeShared(kSide);
  failures_.FailNth(DriverCall::kRecord, 1, Repeat::kOnce, absl::InternalError("injected"));
  const Block* put_off = FreeShared(kOther);
  waiting_.Drain();
  EXPECT_TRUE(Waits(block));
  EXPECT_TRUE(Waits(put_off));
  EXPECT_TRUE(waiting_.empty());
  EXPECT_EQ(streams_.live_events(), 0u);
  EXPECT_EQ(Records(), 3u);
}

}  // namespace
}  // namespace memtrace
