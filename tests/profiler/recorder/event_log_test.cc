// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/trace/reading/summary_reader.h"
#include "profiler/trace/writing/mark_request.h"
#include "tests/profiler/recorder/logged_trace.h"

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;

constexpr DeviceIndex kLoggedCard{0};

class EventLogTest : public testing::Test {
 protected:
  // A trace without summaries counts as one of an older memtrace, which makes no marks.
  EventLogTest() : trace_({.with_summary = true}) {}

  std::vector<std::string> Sequence() const {
    std::vector<std::string> lines;
    trace_.ForEach([&](const trace::Event& event) {
      lines.push_back(std::to_string(event.sequence) + " kind " +
                      std::to_string(event.payload.index()));
    });
    return lines;
  }
  // Returns the values of facts in the trace, by key.
  std::vector<std::string> Facts() const {
    std::vector<std::string> facts;
    const trace::TraceReader reader = trace::MustOpen(trace_.path());
    reader.ForEach([&](const trace::Event& event) {
      const auto* fact = std::get_if<trace::Annotate>(&event.payload);
      if (fact == nullptr) return;
      facts.push_back(std::string(reader.String(fact->key)) + "=" +
                      std::string(reader.String(fact->value)));
    });
    return facts;
  }

  LoggedTrace trace_;
  EventLog& log_ = trace_.log();
};

// The numbers are indices in trace::Payload.
TEST_F(EventLogTest, EventsAreNumberedInOrderAndAnImmediateFreeIsTwo) {
  log_.Append(trace::Step{.number = 1});
  EXPECT_EQ(log_.AppendFreed(kLoggedCard, DeviceAddress{0x1000}), 2U);
  EXPECT_EQ(log_.sequence(), 3U);
  log_.Append(trace::Step{.number = 2});
  EXPECT_THAT(Sequence(), ElementsAre("1 kind 7", "2 kind 1", "3 kind 2", "4 kind 7"));
}

TEST_F(EventLogTest, AccountIncludesEachEventOnceItIsWritten) {
  log_.Append(trace::Step{.number = 9});
  EXPECT_EQ(log_.run().position().step, 9U);
}

TEST_F(EventLogTest, BlockIsForgottenOnlyOnce) {
  log_.live().Add(kLoggedCard, DeviceAddress{0x1000}, {.requested = 100});
  EXPECT_EQ(log_.Forget(kLoggedCard, DeviceAddress{0x1000})->requested, 100U);
  EXPECT_FALSE(log_.Forget(kLoggedCard, DeviceAddress{0x1000}));
}

TEST_F(EventLogTest, RequestedMarkIsMadeBeforeTheNextEvent) {
  log_.AppendAt(0, trace::Step{.number = 3});
  auto wanted = trace::MarkRequest::Make(trace_.path());
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  EXPECT_EQ(wanted->number(), 1U);
  EXPECT_FALSE(wanted->is_made());
  log_.AppendAt(2'000'000, trace::Step{.number = 4});
  EXPECT_TRUE(wanted->is_made());
  EXPECT_THAT(Facts(), ElementsAre("snapshot.1=step 3"));
  EXPECT_THAT(Sequence(), ElementsAre("1 kind 7", "2 kind 10", "3 kind 7"));
}

// It looks around once a millisecond, because its checks cost more than an event.
TEST_F(EventLogTest, MarkRequestsAreCheckedOnceAMillisecond) {
  log_.AppendAt(10'000'000, trace::Step{.number = 1});
  auto wanted = trace::MarkRequest::Make(trace_.path());
  log_.AppendAt(10'999'999, trace::Step{.number = 2});
  EXPECT_FALSE(wanted->is_made());
  log_.AppendAt(11'000'000, trace::Step{.number = 3});
  EXPECT_TRUE(wanted->is_made());
}

// Any process may write into the page.
TEST_F(EventLogTest, AtMostSixteenMarksAreMadePerCheck) {
  log_.AppendAt(0, trace::Step{.number = 1});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(trace::MarkRequest::Make(trace_.path()).ok());
  log_.AppendAt(1'000'000, trace::Step{.number = 2});
  EXPECT_EQ(Facts().size(), 16U);
  log_.AppendAt(2'000'000, trace::Step{.number = 3});
  EXPECT_EQ(Facts().size(), 20U);
}

class SummarisedLogTest : public EventLogTest {
 protected:
  nlohmann::json Summary() const {
    const auto text = trace::ReadSummary(trace_.path());
    EXPECT_TRUE(text.ok()) << text.status();
    return nlohmann::json::parse(text.ok() ? *text : "{}");
  }
};

TEST_F(SummarisedLogTest, SummaryIsWrittenFirstAndAtMostOnceASecond) {
  log_.AppendAt(0, trace::Step{.number = 1});
  log_.AppendAt(500'000'000, trace::Step{.number = 2});
  EXPECT_EQ(Summary().at("events"), 0);
  log_.AppendAt(10'000'000'000, trace::Step{.number = 3});
  EXPECT_EQ(Summary().at("events"), 2) << "of all before this one";
}

TEST_F(SummarisedLogTest, EndedTraceHasASummaryOfAllEvents) {
  log_.AppendAt(0, trace::Step{.number = 1});
  log_.AppendAt(1, trace::Step{.number = 2});
  log_.Summarise(/*is_last=*/true);
  EXPECT_EQ(Summary().at("events"), 2);
}

// Events are still counted if there is no file.
TEST(EventLogWithoutAFileTest, AccountAndLiveSetContinue) {
  EventLog log(trace::TraceWriter::Stopped(absl::UnavailableError("no file")));
  log.Append(trace::Step{.number = 5});
  log.AppendFreed(kLoggedCard, DeviceAddress{0x1000});
  log.Summarise(/*is_last=*/true);
  EXPECT_EQ(log.run().position().step, 5U);
  EXPECT_EQ(log.sequence(), 3U);
  EXPECT_EQ(log.trace().lost_events(), 3U);
  EXPECT_TRUE(absl::IsUnavailable(log.trace().TakeFailure()));
}

}  // namespace
}  // namespace memtrace::recorder
