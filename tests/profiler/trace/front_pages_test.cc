// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/front_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "profiler/trace/reading/summary_reader.h"
#include "profiler/trace/writing/mark_request.h"
#include "profiler/trace/writing/trace_file.h"
#include "tests/profiler/trace/file_blocks.h"

namespace memtrace::trace {
namespace {

// Runs with shared pages, and without.
class FrontPagesTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    auto file = TraceFile::Create(path_, {}, {.map_pages = GetParam(), .with_summary = true});
    ASSERT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
  }
  FrontPages& front() { return file_->front(); }
  std::string Summary() const {
    const auto text = ReadSummary(path_);
    return text.ok() ? *text : "none";
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  std::unique_ptr<TraceFile> file_;
};

TEST_P(FrontPagesTest, LatestSummaryIsRead) {
  EXPECT_EQ(Summary(), "none");
  front().WriteSummary("first", 10);
  EXPECT_EQ(Summary(), "first");
  front().WriteSummary("a longer second", 20);
  EXPECT_EQ(Summary(), "a longer second");
  front().WriteSummary("3", 30);
  EXPECT_EQ(Summary(), "3");
}

// The process may be killed while it writes a summary.
TEST_P(FrontPagesTest, PreviousSummaryStaysReadable) {
  front().WriteSummary("first", 10);
  front().WriteSummary("second", 20);
  const size_t second = FirstPageOf(path_).summary_offset + kSummaryBytes;
  std::string bytes = ReadBytes(path_);
  bytes.at(second + sizeof(BlockHeader)) ^= 1;
  const std::string damaged = folder_.File("damaged.trace");
  WriteBytes(damaged, bytes);
  EXPECT_EQ(*ReadSummary(damaged), "first");
}

TEST_P(FrontPagesTest, SummaryMayFillItsBlock) {
  const std::string most(FrontPages::kSummaryText, 'x');
  front().WriteSummary(most, 10);
  EXPECT_EQ(Summary(), most);
}

TEST_P(FrontPagesTest, FirstReasonOfALossIsKept) {
  front().NoteLoss(1, "the disk is full");
  front().NoteLoss(2, "something else");
  const FileHeader page = FirstPageOf(path_);
  EXPECT_EQ(page.lost_events, 2U);
  EXPECT_STREQ(page.lost_reason.data(), "the disk is full");
}

TEST_P(FrontPagesTest, ReasonIsTruncatedToItsField) {
  front().NoteLoss(1, std::string(1000, 'x'));
  const FileHeader page = FirstPageOf(path_);
  EXPECT_EQ(std::string(page.lost_reason.data()).size(), page.lost_reason.size() - 1);
}

TEST_P(FrontPagesTest, NothingIsWrittenAfterTheFileIsAbandoned) {
  file_->Abandon();
  const std::string before = ReadBytes(path_);
  front().WriteSummary("late", 10);
  front().NoteLoss(5, "late");
  front().NoteMarksMade(5);
  EXPECT_FALSE(front().has_summary());
  EXPECT_EQ(front().marks_wanted(), 0U);
  EXPECT_EQ(ReadBytes(path_), before);
}

INSTANTIATE_TEST_SUITE_P(Pages, FrontPagesTest, testing::Bool(),
                         [](const auto& is) { return is.param ? "Shared" : "Written"; });

// Without a shared page each loss would cost a system call.
TEST(WrittenFrontPagesTest, LossesAreWrittenAtEachPowerOfTwo) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.trace");
  const auto file = *TraceFile::Create(path, {}, {.map_pages = false});
  for (uint64_t lost = 1; lost <= 7; ++lost) file->front().NoteLoss(lost, "the disk is full");
  EXPECT_EQ(FirstPageOf(path).lost_events, 4U);
  file->front().NoteLoss(8, "the disk is full");
  EXPECT_EQ(FirstPageOf(path).lost_events, 8U);
}

class MarkRequestTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
};

TEST_F(MarkRequestTest, RequestsAreNumberedAndMadeInOrder) {
  const auto file = *TraceFile::Create(path_, {}, {.with_summary = true});
  const auto first = MarkRequest::Make(path_);
  const auto second = MarkRequest::Make(path_);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(first->number(), 1U);
  EXPECT_EQ(second->number(), 2U);
  EXPECT_EQ(file->front().marks_wanted(), 2U);
  file->front().NoteMarksMade(1);
  EXPECT_TRUE(first->is_made());
  EXPECT_FALSE(second->is_made());
}

TEST_F(MarkRequestTest, EndedOrInvalidTraceIsRejected) {
  const auto file = *TraceFile::Create(path_, {}, {.with_summary = true});
  file->Finish(0);
  EXPECT_TRUE(absl::IsFailedPrecondition(MarkRequest::Make(path_).status()));
  EXPECT_TRUE(absl::IsNotFound(MarkRequest::Make(folder_.File("none.trace")).status()));
  WriteBytes(folder_.File("other"), std::string(8192, 'x'));
  EXPECT_TRUE(absl::IsFailedPrecondition(MarkRequest::Make(folder_.File("other")).status()));
  WriteBytes(folder_.File("short"), "x");
  EXPECT_FALSE(MarkRequest::Make(folder_.File("short")).ok());
}

}  // namespace
}  // namespace memtrace::trace
