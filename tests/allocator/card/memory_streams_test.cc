// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/memory_streams.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr StreamId kStream{1};

TEST(MemoryStreamsTest, EventIsDoneWhenTheWorkBeforeItIs) {
  MemoryStreams streams;
  streams.Queue(kStream);
  const EventId event = streams.Record(kStream).value();
  EXPECT_FALSE(streams.Done(event).value());
  streams.Finish(kStream);
  EXPECT_TRUE(streams.Done(event).value());
}

TEST(MemoryStreamsTest, WaitingFinishesOnlyWorkBeforeTheEvent) {
  MemoryStreams streams;
  const auto before = streams.Queue(kStream);
  const EventId event = streams.Record(kStream).value();
  const auto after = streams.Queue(kStream);
  EXPECT_TRUE(streams.Wait(event).ok());
  EXPECT_TRUE(streams.IsFinished(before));
  EXPECT_FALSE(streams.IsFinished(after));
}

TEST(MemoryStreamsTest, EventOfAnIdleStreamIsDone) {
  MemoryStreams streams;
  EXPECT_TRUE(streams.Done(streams.Record(kStream).value()).value());
}

TEST(MemoryStreamsTest, ConsumedEventIsRejected) {
  MemoryStreams streams;
  const EventId event = streams.Record(kStream).value();
  EXPECT_TRUE(streams.Done(event).value());
  EXPECT_EQ(streams.Wait(event).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace memtrace
