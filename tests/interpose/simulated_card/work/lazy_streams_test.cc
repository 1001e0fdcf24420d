// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Work that is done when the host waits, and not before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/interpose/simulated_card/work/stream_parts.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;

class LazyStreamsTest : public ::testing::Test {
 protected:
  void Launch(const Stream* stream) {
    ASSERT_EQ(parts_.streams.Submit(stream, 0), Result::kSuccess);
  }
  void Call(const Stream* stream, int number) {
    ASSERT_EQ(parts_.streams.SubmitCall(stream, 0, [this, number] { calls_.push_back(number); }),
              Result::kSuccess);
  }
  Event* Record(const Stream* stream) {
    Event* event = parts_.events.Create(0);
    EXPECT_EQ(parts_.events.Record(event, stream, 0), Result::kSuccess);
    return event;
  }
  void Wait(const Stream* stream, const Event* event) {
    ASSERT_EQ(parts_.events.Wait(stream, 0, event), Result::kSuccess);
  }
  bool IsReady(const Event* event) {
    const Result result = parts_.events.Query(event);
    EXPECT_TRUE(result == Result::kSuccess || result == Result::kNotReady);
    return result == Result::kSuccess;
  }

  StreamParts parts_{2, {.mode = EventMode::kLazy}};
  Stream* a_ = parts_.table.Create(0, kNonBlockingStream, 0);
  Stream* b_ = parts_.table.Create(0, kNonBlockingStream, 0);
  std::vector<int> calls_;
};

TEST_F(LazyStreamsTest, NothingIsReadyBeforeTheHostWaits) {
  Launch(a_);
  const Event* event = Record(a_);
  EXPECT_FALSE(IsReady(event));
  EXPECT_EQ(parts_.streams.Query(a_, 0), Result::kNotReady);
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  EXPECT_TRUE(IsReady(event));
  EXPECT_EQ(parts_.streams.Query(a_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.progress.Waits().not_ready, 2u);
}

TEST_F(LazyStreamsTest, WaitingForAnEventLeavesLaterWork) {
  Launch(a_);
  const Event* first = Record(a_);
  Launch(a_);
  const Event* second = Record(a_);
  ASSERT_EQ(parts_.events.Synchronize(first), Result::kSuccess);
  EXPECT_TRUE(IsReady(first));
  EXPECT_FALSE(IsReady(second));
}

TEST_F(LazyStreamsTest, EventsWithNothingBeforeThemAreReady) {
  EXPECT_TRUE(IsReady(parts_.events.Create(0))) << "never recorded";
  EXPECT_TRUE(IsReady(Record(a_))) << "of an empty stream";
}

TEST_F(LazyStreamsTest, WaitingForAStreamCompletesItsDependencies) {
  Launch(a_);
  const Event* first = Record(a_);
  Launch(a_);
  const Event* second = Record(a_);
  Wait(b_, first);
  const Event* joined = Record(b_);
  EXPECT_FALSE(IsReady(joined)) << "it waits for the other stream, though nothing else is in it";
  ASSERT_EQ(parts_.streams.Synchronize(b_, 0), Result::kSuccess);
  EXPECT_TRUE(IsReady(joined));
  EXPECT_TRUE(IsReady(first));
  EXPECT_FALSE(IsReady(second));
}

TEST_F(LazyStreamsTest, LongChainsBetweenStreamsAreFollowed) {
  for (int i = 0; i < 20000; ++i) {
    Stream* const from = i % 2 == 0 ? a_ : b_;
    Stream* const to = i % 2 == 0 ? b_ : a_;
    Launch(from);
    Event* event = Record(from);
    Wait(to, event);
    ASSERT_EQ(parts_.events.Destroy(event), Result::kSuccess);
  }
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(b_, 0), Result::kSuccess);
}

TEST_F(LazyStreamsTest, MemoryOfWaitsIsBoundedWithoutHostWaits) {
  StreamParts eager(1);
  Stream* from = eager.table.Create(0, kNonBlockingStream, 0);
  Stream* to = eager.table.Create(0, kNonBlockingStream, 0);
  Event* event = eager.events.Create(0);
  for (int i = 0; i < 70'000; ++i) {
    ASSERT_EQ(eager.streams.Submit(from, 0), Result::kSuccess);
    ASSERT_EQ(eager.events.Record(event, from, 0), Result::kSuccess);
    ASSERT_EQ(eager.events.Wait(to, 0, event), Result::kSuccess);
  }
  EXPECT_EQ(eager.progress.Waits().waits, 1u) << "once, as a card's queue is full some time";
}

TEST_F(LazyStreamsTest, CallsAreMadeInOrderWhenWaitedFor) {
  Call(a_, 1);
  Launch(a_);
  Call(b_, 2);
  Wait(a_, Record(b_));
  Call(a_, 3);
  EXPECT_THAT(calls_, ElementsAre());
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  EXPECT_THAT(calls_, ElementsAre(1, 2, 3));
}

TEST_F(LazyStreamsTest, CallMayNotWaitForItself) {
  Result inner = Result::kSuccess;
  ASSERT_EQ(parts_.streams.SubmitCall(a_, 0, [&] { inner = parts_.streams.Synchronize(a_, 0); }),
            Result::kSuccess);
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  EXPECT_EQ(inner, Result::kNotPermitted);
}

TEST_F(LazyStreamsTest, CallIsMadeOnceForManyWaitingThreads) {
  std::atomic<int> made = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(parts_.streams.SubmitCall(a_, 0, [&] { ++made; }), Result::kSuccess);
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      EXPECT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
      EXPECT_EQ(made, 50) << "whoever waited, waited for all";
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(LazyStreamsTest, WaitingForTheDeviceCompletesOnlyItsStreams) {
  Stream* other_card = parts_.table.Create(1, kNonBlockingStream, 0);
  ASSERT_EQ(parts_.streams.Submit(other_card, 1), Result::kSuccess);
  Launch(nullptr);
  Call(a_, 1);
  ASSERT_EQ(parts_.streams.Destroy(a_), Result::kSuccess) << "its work is still done";
  EXPECT_THAT(calls_, ElementsAre());
  ASSERT_EQ(parts_.streams.SynchronizeDevice(0), Result::kSuccess);
  EXPECT_THAT(calls_, ElementsAre(1));
  EXPECT_EQ(parts_.streams.Query(nullptr, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(other_card, 1), Result::kNotReady);
}

TEST_F(LazyStreamsTest, BlockingStreamsAndTheDefaultStreamWaitForEachOther) {
  Stream* blocking = parts_.table.Create(0, 0, 0);
  Launch(a_);
  Launch(nullptr);
  Launch(blocking);
  ASSERT_EQ(parts_.streams.Synchronize(blocking, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(nullptr, 0), Result::kSuccess) << "it was waited for";
  EXPECT_EQ(parts_.streams.Query(a_, 0), Result::kNotReady)
      << "a non-blocking stream waits for nobody";
  Launch(blocking);
  EXPECT_EQ(parts_.streams.Query(nullptr, 0), Result::kNotReady);
  ASSERT_EQ(parts_.streams.Synchronize(nullptr, 0), Result::kSuccess);
  EXPECT_EQ(parts_.streams.Query(blocking, 0), Result::kSuccess);
}

TEST_F(LazyStreamsTest, HostThatKeepsPollingCountsAsWaiting) {
  Launch(a_);
  const Event* event = Record(a_);
  int questions = 1;
  while (!IsReady(event)) ++questions;
  EXPECT_EQ(questions, 1001);
  EXPECT_EQ(parts_.progress.Waits().patience, 1u);
}

TEST_F(LazyStreamsTest, HostThatWorksBetweenPollsDoesNotCountAsWaiting) {
  Launch(a_);
  const Event* event = Record(a_);
  for (int i = 0; i < 5000; ++i) {
    EXPECT_FALSE(IsReady(event));
    Launch(b_);
  }
}

TEST_F(LazyStreamsTest, DelayedEventsAreReadyAfterThatManyQueries) {
  parts_.progress.SetTiming({.mode = EventMode::kDelayed, .questions = 2});
  Launch(a_);
  const Event* event = Record(a_);
  EXPECT_FALSE(IsReady(event));
  EXPECT_FALSE(IsReady(event));
  EXPECT_TRUE(IsReady(event));
}

TEST_F(LazyStreamsTest, TimeBetweenEventsIsKnownWhenBothAreDone) {
  const Event* start = Record(a_);
  Launch(a_);
  const Event* end = Record(a_);
  float milliseconds = 0;
  EXPECT_EQ(parts_.events.ElapsedMilliseconds(start, end, &milliseconds), Result::kNotReady);
  ASSERT_EQ(parts_.events.Synchronize(end), Result::kSuccess);
  EXPECT_EQ(parts_.events.ElapsedMilliseconds(start, end, &milliseconds), Result::kSuccess);
  EXPECT_FLOAT_EQ(milliseconds, 0.01f);
}

TEST(EventTimingTest, TextsAreReadAndWritten) {
  EventTiming timing;
  std::string error;
  for (const char* text : {"eager", "lazy", "delay:3"}) {
    ASSERT_TRUE(ParseEventTiming(text, &timing, &error)) << error;
    EXPECT_EQ(ToText(timing), text);
  }
  EXPECT_EQ(timing.questions, 3u);
  for (const char* text : {"lazily", "delay", "delay:", "delay:x", "delay:-1"}) {
    EXPECT_FALSE(ParseEventTiming(text, &timing, &error)) << text;
    EXPECT_THAT(error, ::testing::HasSubstr("write eager, lazy or delay:N"));
  }
}

}  // namespace
}  // namespace memtrace::card
