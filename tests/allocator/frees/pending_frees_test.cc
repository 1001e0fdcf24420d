// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/frees/pending_frees.h"

#include <gtest/gtest.h>

#include "allocator/card/memory_streams.h"

namespace memtrace {
namespace {

constexpr StreamId kOne{1};
constexpr StreamId kTwo{2};

class PendingFreesTest : public ::testing::Test {
 protected:
  Block* Share(std::initializer_list<StreamId> streams) {
    Block* block = arena_.New();
    block->requested = 100;
    for (const StreamId stream : streams) {
      streams_.Queue(stream);
      block->recorded_streams.push_back(stream);
    }
    return block;
  }

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  BlockArena arena_;
  PendingFrees pending_{streams_};
};

TEST_F(PendingFreesTest, BlockWaitsForEveryRecordedStream) {
  Block* block = Share({kOne, kTwo});
  ASSERT_TRUE(pending_.Add(block).ok());
  EXPECT_EQ(pending_.Poll(), nullptr);
  streams_.Finish(kTwo);
  EXPECT_EQ(pending_.Poll(), nullptr);
  streams_.Finish(kOne);
  EXPECT_EQ(pending_.Poll(), block);
  EXPECT_TRUE(pending_.empty());
  EXPECT_EQ(streams_.live_events(), 0u);
}

TEST_F(PendingFreesTest, PollQueriesOnlyTheOldestEventOfAStream) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pending_.Add(Share({kOne})).ok());
  EXPECT_EQ(pending_.Poll(), nullptr);
  EXPECT_EQ(failures_.calls(DriverCall::kDone), 1u);
}

TEST_F(PendingFreesTest, BlocksOfAStreamAreReturnedInOrder) {
  Block* first = Share({kOne});
  Block* second = Share({kOne});
  ASSERT_TRUE(pending_.Add(first).ok());
  ASSERT_TRUE(pending_.Add(second).ok());
  streams_.Finish(kOne);
  EXPECT_EQ(pending_.Poll(), first);
  EXPECT_EQ(pending_.Poll(), second);
}

TEST_F(PendingFreesTest, WaitingStartsWithTheOldestOfAllStreams) {
  Block* first = Share({kTwo});
  Block* second = Share({kOne});
  ASSERT_TRUE(pending_.Add(first).ok());
  ASSERT_TRUE(pending_.Add(second).ok());
  EXPECT_EQ(pending_.WaitForNext().value(), first);
  EXPECT_EQ(failures_.calls(DriverCall::kWait), 1u);
  EXPECT_EQ(pending_.WaitForNext().value(), second);
}

TEST_F(PendingFreesTest, BlockIsNotAddedIfRecordingAnEventFails) {
  Block* block = Share({kOne, kTwo});
  failures_.FailNth(DriverCall::kRecord, 2, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_FALSE(pending_.Add(block).ok());
  EXPECT_TRUE(pending_.empty());
  ASSERT_TRUE(pending_.Add(block).ok());
  streams_.Finish(kOne);
  streams_.Finish(kTwo);
  EXPECT_EQ(pending_.Poll(), block);
  EXPECT_EQ(pending_.Poll(), nullptr);
  EXPECT_EQ(streams_.live_events(), 0u);
}

TEST_F(PendingFreesTest, FailedQueryCountsAsNotDone) {
  Block* block = Share({kOne});
  ASSERT_TRUE(pending_.Add(block).ok());
  streams_.Finish(kOne);
  failures_.FailNth(DriverCall::kDone, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_EQ(pending_.Poll(), nullptr);
  EXPECT_EQ(pending_.Poll(), block);
}

}  // namespace
}  // namespace memtrace
