// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/stack_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

using trace::StackId;

std::string Functions(const trace::TraceReader& reader, StackId stack) {
  std::string names;
  for (const trace::Frame& frame : reader.Stack(stack)) names += frame.function + " ";
  return names;
}

TEST(StackTableTest, StacksAreReadInnermostFirst) {
  RecordedRun run;
  const StackId stack = run.recorder().stacks().Intern(FramesOf({3, 2, 1}));
  EXPECT_EQ(Functions(run.Reader(), stack), "f3 f2 f1 ");
}

TEST(StackTableTest, EmptyStackIsZero) {
  RecordedRun run;
  EXPECT_EQ(run.recorder().stacks().Intern({}), 0U);
}

TEST(StackTableTest, OnlyUnseenFramesAreSymbolized) {
  RecordedRun run;
  const StackId first = run.recorder().stacks().Intern(FramesOf({3, 2, 1}));
  EXPECT_EQ(run.symbolizer().calls(), 3);
  EXPECT_EQ(run.recorder().stacks().Intern(FramesOf({3, 2, 1})), first);
  EXPECT_EQ(run.symbolizer().calls(), 3);
  EXPECT_NE(run.recorder().stacks().Intern(FramesOf({4, 2, 1})), first);
  EXPECT_EQ(run.symbolizer().calls(), 4);
}

TEST(StackTableTest, StacksDifferByOrderDepthAndInstruction) {
  RecordedRun run;
  std::vector<RawFrame> moved = FramesOf({3, 2, 1});
  moved[0].instruction = 2;
  const std::set<StackId> stacks = {run.recorder().stacks().Intern(FramesOf({3, 2, 1})),
                                    run.recorder().stacks().Intern(FramesOf({2, 3, 1})),
                                    run.recorder().stacks().Intern(FramesOf({3, 2})),
                                    run.recorder().stacks().Intern(FramesOf({2, 1})),
                                    run.recorder().stacks().Intern(FramesOf({3, 3, 2, 1})),
                                    run.recorder().stacks().Intern(moved)};
  EXPECT_EQ(stacks.size(), 6U);
}

TEST(StackTableTest, HiddenFramesAreOmitted) {
  RecordedRun run;
  run.symbolizer().Hide(2);
  const StackId stack = run.recorder().stacks().Intern(FramesOf({3, 2, 1}));
  EXPECT_EQ(Functions(run.Reader(), stack), "f3 f1 ");
  EXPECT_EQ(run.recorder().stacks().Intern(FramesOf({3, 1})), stack);
}

TEST(StackTableTest, StackOfOnlyHiddenFramesIsKept) {
  RecordedRun run;
  run.symbolizer().Hide(2);
  const StackId stack = run.recorder().stacks().Intern(FramesOf({2, 2}));
  EXPECT_EQ(Functions(run.Reader(), stack), "f2 f2 ");
}

TEST(StackTableTest, StacksOfOneFrameAreDistinguished) {
  RecordedRun run;
  std::vector<RawFrame> line = FramesOf({1});
  const StackId first = run.recorder().stacks().Intern(line);
  line[0].instruction = 2;
  EXPECT_NE(run.recorder().stacks().Intern(line), first);
}

TEST(StackTableTest, StacksSurviveGrowthOfTheIndex) {
  RecordedRun run;
  std::vector<StackId> ids;
  for (uintptr_t i = 1; i <= 10'000; ++i) {
    ids.push_back(run.recorder().stacks().Intern(FramesOf({i % 100, i % 77, i})));
  }
  for (uintptr_t i = 1; i <= 10'000; ++i) {
    ASSERT_EQ(run.recorder().stacks().Intern(FramesOf({i % 100, i % 77, i})), ids[i - 1]);
  }
}

TEST(StackTableTest, ThreadsAgreeOnIds) {
  RecordedRun run;
  constexpr uintptr_t kStacks = 3000;
  std::vector<std::vector<StackId>> ids(4);
  std::vector<std::thread> threads;
  threads.reserve(ids.size());
  for (std::vector<StackId>& mine : ids) {
    threads.emplace_back([&run, &mine] {
      for (uintptr_t i = 1; i <= kStacks; ++i) {
        mine.push_back(run.recorder().stacks().Intern(FramesOf({i, i % 10 + 1, 1})));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : ids) EXPECT_EQ(mine, ids[0]);
}

}  // namespace
}  // namespace memtrace::recorder
