// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_loss.h"

#include <gtest/gtest.h>

namespace memtrace::trace {
namespace {

TEST(TraceLossTest, EventsAfterACloseAreCountedWithoutAReason) {
  TraceLoss loss;
  EXPECT_TRUE(loss.Count(2).ok());
  EXPECT_TRUE(loss.Count(1).ok());
  EXPECT_EQ(loss.lost_events(), 3U);
  EXPECT_FALSE(loss.has_stopped());
  EXPECT_EQ(loss.reason(), "");
}

TEST(TraceLossTest, OnlyTheFirstLostEventReturnsTheReason) {
  TraceLoss loss;
  loss.Stop(absl::ResourceExhaustedError("the disk is full"), 0);
  EXPECT_EQ(loss.Count(1).message(), "the disk is full");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(loss.Count(1).ok());
  EXPECT_EQ(loss.reason(), "the disk is full");
  EXPECT_TRUE(absl::IsResourceExhausted(loss.status()));
}

TEST(TraceLossTest, PendingEventsAreLostWithTheFile) {
  TraceLoss loss;
  loss.Stop(absl::DataLossError("an I/O error"), 7);
  EXPECT_TRUE(loss.has_stopped());
  EXPECT_EQ(loss.lost_events(), 7U);
  loss.Count(2).IgnoreError();
  EXPECT_EQ(loss.lost_events(), 9U);
}

}  // namespace
}  // namespace memtrace::trace
