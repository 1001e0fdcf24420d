// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/shared_trace.h"

#include <gtest/gtest.h>

#include <new>

namespace memtrace::recorder {
namespace {

class SharedTraceTest : public testing::Test {
 protected:
  SharedTrace trace_{trace::TraceWriter::Stopped(absl::PermissionDeniedError("no file"))};
};

TEST_F(SharedTraceTest, ExceptionIsCaughtAndCountedAsALostEvent) {
  bool went_on = false;
  EXPECT_NO_THROW(trace_.Guarded([&] {
    throw std::bad_alloc();
    went_on = true;
  }));
  trace_.Guarded([&] { went_on = true; });
  EXPECT_TRUE(went_on);
  EXPECT_EQ(trace_.lost_events(), 1U);
}

TEST_F(SharedTraceTest, ForkedChildBeginsNothing) {
  const trace::StringId before = trace_.Intern("before");
  EXPECT_NE(before, 0U);
  trace_.AbandonInForkedChild();
  trace_.AbandonInForkedChild();
  bool begun = false;
  trace_.Guarded([&] { begun = true; });
  EXPECT_FALSE(begun);
  EXPECT_EQ(trace_.Intern("before"), 0U);
  EXPECT_TRUE(trace_.status().ok());
  EXPECT_EQ(trace_.path(), "");
}

// The holder of the lock may not exist in the child.
TEST_F(SharedTraceTest, ForkedChildWaitsForNoLock) {
  trace_.mutex.Lock();
  trace_.AbandonInForkedChild();
  EXPECT_EQ(trace_.Intern("policy"), 0U);
  EXPECT_EQ(trace_.lost_events(), 0U);
  trace_.mutex.Unlock();
}

TEST_F(SharedTraceTest, EachStringHasOneNumberAndTheEmptyOneIsZero) {
  EXPECT_EQ(trace_.Intern(""), 0U);
  EXPECT_EQ(trace_.Intern("policy"), trace_.Intern("policy"));
  EXPECT_NE(trace_.Intern("policy"), trace_.Intern("reference"));
}

TEST_F(SharedTraceTest, FailureIsTakenOnceAndOnlyAfterAFailedWrite) {
  EXPECT_TRUE(absl::IsPermissionDenied(trace_.status()));
  EXPECT_TRUE(trace_.TakeFailure().ok());
  trace_.NoteWritten(absl::OkStatus());
  EXPECT_TRUE(trace_.TakeFailure().ok());
  trace_.NoteWritten(absl::PermissionDeniedError("no file"));
  EXPECT_TRUE(absl::IsPermissionDenied(trace_.TakeFailure()));
  EXPECT_TRUE(trace_.TakeFailure().ok());
}

}  // namespace
}  // namespace memtrace::recorder
