// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/summary_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::recorder {
namespace {

using nlohmann::json;

constexpr size_t kPlenty = 16 << 10;

class SummaryTextTest : public testing::Test {
 protected:
  // Defines a stack of these frames, innermost first.
  trace::StackId Stack(const std::vector<trace::Frame>& frames) {
    trace::StackId stack = 0;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      stack = names().DefineStack(stack, names().DefineFrame(*frame));
    return stack;
  }
  // Notes that 40 GiB were requested of a card of 24 GiB.
  void Fail(trace::StackId stack) {
    trace::OutOfMemory failure;
    failure.requested = failure.allocated = uint64_t{40} << 30;
    failure.stack = stack;
    failure.cards = {{.total = uint64_t{24} << 30, .free = uint64_t{20} << 30}};
    run_.Note(failure);
  }
  std::string Text(size_t most_bytes = kPlenty) {
    return SummaryText(live_, run_, *writer_, {}, most_bytes);
  }
  json Failure() { return json::parse(Text())["last_out_of_memory"]; }
  trace::DefinitionWriter& names() { return writer_->definitions(); }

  trace::TemporaryFolder folder_;
  std::unique_ptr<trace::TraceWriter> writer_ =
      *trace::TraceWriter::Open(folder_.File("run.trace"), {});
  LiveTable live_;
  RunAccount run_;
};

TEST_F(SummaryTextTest, FailureHasItsCause) {
  Fail(0);
  EXPECT_EQ(Failure()["cause"], "too_large");
  EXPECT_EQ(Failure()["stack"], json::array());
}

TEST_F(SummaryTextTest, CauseIsMissingWithoutTheCardsLedger) {
  run_.Note(trace::OutOfMemory{});
  EXPECT_FALSE(Failure().contains("cause"));
}

TEST_F(SummaryTextTest, StackHasTheInnermostFrameAndThoseOutsideOfLibraries) {
  Fail(Stack({{"/venv/lib/python3.11/site-packages/torch/functional.py", "cat", 7},
              {"/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "_call_impl", 8},
              {"/home/me/model.py", "Net.forward", 31},
              {"/usr/lib/python3.11/contextlib.py", "inner", 9},
              {"/home/me/train.py", "<module>", 12}}));
  EXPECT_EQ(Failure()["stack"],
            json({{"/venv/lib/python3.11/site-packages/torch/functional.py", "cat", 7},
                  {"/home/me/model.py", "Net.forward", 31},
                  {"/home/me/train.py", "<module>", 12}}));
}

TEST_F(SummaryTextTest, LongPathLosesItsFirstFolders) {
  const std::string folder = "/" + std::string(120, 'a') + "/" + std::string(120, 'b');
  Fail(Stack({{folder + "/train.py", "step", 3}}));
  EXPECT_EQ(Failure()["stack"][0][0], std::string(120, 'b') + "/train.py");
}

TEST_F(SummaryTextTest, StackIsCutIfTheSummaryWouldNotFit) {
  std::vector<trace::Frame> frames;
  for (uint32_t line = 1; line <= 30; ++line) frames.push_back({"/home/me/train.py", "step", line});
  Fail(Stack(frames));
  EXPECT_EQ(Failure()["stack"].size(), 8U);
  const json failure = json::parse(Text(Text().size() - 1))["last_out_of_memory"];
  EXPECT_EQ(failure["stack"].size(), 4U);
  EXPECT_EQ(failure["cause"], "too_large");
}

}  // namespace
}  // namespace memtrace::recorder
