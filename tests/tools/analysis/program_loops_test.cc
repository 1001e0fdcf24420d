// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/program_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tools/analysis/replayed/visit_marks.h"

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(VisitMarksTest, FewVisitsAreAllRemembered) {
  VisitMarks marks;
  for (uint64_t event = 10; event <= 50; event += 10) marks.Add(event, event);
  EXPECT_THAT(marks.Until(35), ElementsAre(Visit{1, 10, 10}, Visit{2, 20, 20}, Visit{3, 30, 30}));
  EXPECT_EQ(marks.count(), 5U);
}

TEST(VisitMarksTest, OfManyVisitsTheLastAndSomeEarlierOnesAreRemembered) {
  VisitMarks marks;
  for (uint64_t event = 1; event <= 100'000; ++event) marks.Add(event, 0);
  const std::vector<Visit> visits = marks.Until(100'000);
  EXPECT_LE(visits.size(), 40U);
  EXPECT_GE(visits.size(), 20U);
  EXPECT_EQ(visits.front().number, 1U);
  EXPECT_EQ(visits[visits.size() - 8].number, 99'993U);
  for (size_t i = 1; i < visits.size(); ++i) EXPECT_LT(visits[i - 1].number, visits[i].number);
  EXPECT_EQ(marks.Until(50'000).back().number, marks.Until(50'000).back().event);
}

// Stacks of lines, outermost first. "train:11" is line 11 of the function train; "lib:3" is in a
// library, "torch/optim/adam.py:9" in torch, "call" is the call of a module.
class Program : public EventSource {
 public:
  // Adds an allocation with that stack as the next event.
  Program& Visit(const std::vector<std::string>& lines, uint64_t bytes = 512) {
    trace::Allocate allocation;
    allocation.requested = bytes;
    allocation.stack = Number(lines);
    loops_.Apply(allocation, ++event_, 0);
    return *this;
  }
  std::vector<ProgramLoop> Around(const std::vector<std::string>& lines) {
    return loops_.Around(Number(lines), event_);
  }
  std::vector<ProgramLoop> AroundTheLast() { return loops_.Around(0, event_); }

  void ForEach(const std::function<void(const trace::Event&)>& /*visit*/) const override {}
  std::string_view String(trace::StringId /*id*/) const override { return ""; }
  std::vector<trace::Frame> Stack(trace::StackId id) const override {
    std::vector<trace::Frame> frames;
    const std::vector<std::string>& lines = stacks_[id - 1];
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) frames.push_back(FrameOf(*line));
    return frames;
  }

 private:
  static trace::Frame FrameOf(const std::string& line) {
    if (line == "call")
      return {"/v/site-packages/torch/nn/modules/module.py", "Module._call_impl", 9};
    if (line == "thread") return {"/usr/lib/python3.11/threading.py", "Thread._bootstrap", 9};
    const size_t colon = line.find(':');
    if (line.starts_with("torch/"))
      return {"/v/site-packages/" + line.substr(0, colon), "_inner", 9};
    const std::string function = line.substr(0, colon);
    const std::string file = function == "lib" ? "/v/site-packages/lib/lib.py" : "/home/train.py";
    return {file, function, static_cast<uint32_t>(std::stoul(line.substr(colon + 1)))};
  }
  trace::StackId Number(const std::vector<std::string>& lines) {
    const auto [known, is_new] =
        numbers_.emplace(lines, static_cast<trace::StackId>(stacks_.size() + 1));
    if (is_new) stacks_.push_back(lines);
    return known->second;
  }

  uint64_t event_ = 0;
  std::map<std::vector<std::string>, trace::StackId> numbers_;
  std::vector<std::vector<std::string>> stacks_;
  ProgramLoops loops_{*this};
};

TEST(ProgramLoopsTest, RepeatedLinesAreALoop) {
  Program program;
  program.Visit({"main:3"});
  for (int i = 0; i < 9; ++i)
    program.Visit({"main:7", "train:11"}).Visit({"main:7", "train:12", "call", "forward:2"});
  const std::vector<ProgramLoop> loops = program.Around({"main:7", "train:13"});
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].line, "train.py:11");
  EXPECT_EQ(loops[0].count(), 9U);
  EXPECT_TRUE(loops[0].calls_modules);
  EXPECT_FALSE(loops[0].is_library);
}

TEST(ProgramLoopsTest, LayersWithinAModuleCallAreNotALoop) {
  Program program;
  for (int i = 0; i < 48; ++i) {
    program.Visit({"main:7", "call", "forward:2", "call", "layer:5"});
    program.Visit({"main:7", "call", "forward:2", "call", "layer:6"});
  }
  // The line of the call has one module's path; its stacks recur like those of one call for each.
  for (const ProgramLoop& loop : program.Around({"main:7", "call", "forward:2"}))
    EXPECT_EQ(loop.line, "train.py:7");
}

TEST(ProgramLoopsTest, InnermostOfNestedLoopsComesFirst) {
  Program program;
  for (int epoch = 0; epoch < 6; ++epoch) {
    program.Visit({"main:3"});
    for (int batch = 0; batch < 10; ++batch)
      program.Visit({"main:4", "train:11"}).Visit({"main:4", "train:12"});
  }
  const std::vector<ProgramLoop> loops = program.Around({"main:4", "train:12"});
  ASSERT_THAT(loops, SizeIs(2));
  EXPECT_EQ(loops[0].line, "train.py:11");
  EXPECT_EQ(loops[0].count(), 60U);
  EXPECT_EQ(loops[1].line, "train.py:3");
  EXPECT_EQ(loops[1].count(), 6U);
}

TEST(ProgramLoopsTest, LineRevisitedByAnExpressionCountsOnce) {
  Program program;
  for (int i = 0; i < 8; ++i) program.Visit({"main:7"}).Visit({"main:8"}).Visit({"main:7"});
  const std::vector<ProgramLoop> loops = program.Around({"main:7"});
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].count(), 8U);
  EXPECT_EQ(loops[0].line, "train.py:7");
}

TEST(ProgramLoopsTest, FinishedLoopIsNotReported) {
  Program program;
  for (int i = 0; i < 100; ++i) program.Visit({"main:2"}).Visit({"main:3"});
  for (int i = 0; i < 9; ++i) program.Visit({"main:7"}).Visit({"main:8"});
  const std::vector<ProgramLoop> loops = program.Around({"main:8"});
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].line, "train.py:7");
  EXPECT_EQ(loops[0].count(), 9U);
}

TEST(ProgramLoopsTest, LoopOfOneLineIsCountedByARecurringStack) {
  Program program;
  program.Visit({"main:7", "call", "embed:1"});
  for (int i = 0; i < 9; ++i)
    for (const char* line : {"layer:5", "layer:6", "layer:5", "layer:6", "head:1"})
      program.Visit({"main:7", "call", line});
  const std::vector<ProgramLoop> loops = program.Around({"main:7", "call", "layer:5"});
  ASSERT_THAT(loops, SizeIs(1));
  EXPECT_EQ(loops[0].count(), 9U);
}

TEST(ProgramLoopsTest, UserLinesComeBeforeLibraryLines) {
  Program program;
  for (int i = 0; i < 9; ++i) {
    for (int token = 0; token < 5; ++token)
      program.Visit({"main:7", "lib:3"}).Visit({"main:7", "lib:4"});
    program.Visit({"main:8"});
  }
  const std::vector<ProgramLoop> loops = program.Around({"main:7", "lib:4"});
  ASSERT_THAT(loops, SizeIs(2));
  EXPECT_EQ(loops[0].count(), 9U);
  EXPECT_FALSE(loops[0].is_library);
  EXPECT_EQ(loops[1].count(), 45U);
  EXPECT_TRUE(loops[1].is_library);
}

TEST(ProgramLoopsTest, TorchsWorkPerTensorIsNotALoop) {
  Program program;
  for (int i = 0; i < 64; ++i) program.Visit({"main:14", "torch/optim/adam.py:791"});
  EXPECT_THAT(program.Around({"main:14", "torch/optim/adam.py:791"}), IsEmpty());
}

TEST(ProgramLoopsTest, RepeatedFunctionalCallIsALoop) {
  Program program;
  for (int i = 0; i < 64; ++i) program.Visit({"main:14", "torch/nn/functional.py:9"});
  EXPECT_THAT(program.Around({"main:14", "torch/nn/functional.py:9"}), SizeIs(1));
}

TEST(ProgramLoopsTest, FewerThanFiveIterationsAreNotALoop) {
  Program program;
  for (int i = 0; i < 4; ++i) program.Visit({"main:7"}).Visit({"main:8"});
  EXPECT_THAT(program.Around({"main:8"}), IsEmpty());
}

TEST(ProgramLoopsTest, MomentWithoutAStackIsInTheLastVisitedLoop) {
  Program program;
  for (int i = 0; i < 9; ++i) program.Visit({"main:7"}).Visit({"main:8"});
  ASSERT_THAT(program.AroundTheLast(), SizeIs(1));
  EXPECT_EQ(program.AroundTheLast()[0].count(), 9U);
}

TEST(ProgramLoopsTest, PythonThreadsAreIgnored) {
  Program program;
  for (int i = 0; i < 9; ++i) program.Visit({"thread", "main:7"}).Visit({"thread", "main:8"});
  EXPECT_THAT(program.Around({"thread", "main:7"}), IsEmpty());
}

}  // namespace
}  // namespace memtrace::analysis
