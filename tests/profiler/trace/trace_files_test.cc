// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_files.h"

#include <gtest/gtest.h>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

TEST(TraceFilesTest, PidAtTheEndOfANameIsRemoved) {
  EXPECT_EQ(WithoutPid("run.trace.4711"), "run.trace");
  EXPECT_EQ(WithoutPid("traces/run.trace"), "traces/run.trace");
  EXPECT_EQ(WithoutPid("run.trace.47x"), "run.trace.47x");
  EXPECT_EQ(WithoutPid("run.trace."), "run.trace.");
  EXPECT_EQ(WithoutPid(".5"), ".5");
}

TEST(TraceFilesTest, TracesAreKnownByTheirNames) {
  EXPECT_TRUE(IsTraceName("run.trace"));
  EXPECT_TRUE(IsTraceName("memtrace-train.12.trace.34"));
  EXPECT_FALSE(IsTraceName("run.trace.gz"));
  EXPECT_FALSE(IsTraceName("4711"));
}

TEST(TraceFilesTest, TracesAreKnownByTheirFirstBytes) {
  const TemporaryFolder folder;
  ASSERT_TRUE(TraceWriter::Open(folder.File("trace"), {}).ok());
  WriteBytes(folder.File("cut"), "memtrace");
  WriteBytes(folder.File("short"), "memtrac");
  WriteBytes(folder.File("plan"), "memtrace-plan 1\n");
  EXPECT_TRUE(BeginsAsTrace(folder.File("trace")));
  EXPECT_TRUE(BeginsAsTrace(folder.File("cut")));
  EXPECT_FALSE(BeginsAsTrace(folder.File("plan")));
  EXPECT_FALSE(BeginsAsTrace(folder.File("short")));
  EXPECT_FALSE(BeginsAsTrace(folder.File("missing")));
}

}  // namespace
}  // namespace memtrace::trace
