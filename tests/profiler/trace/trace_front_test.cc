// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

using Info = std::map<std::string, std::string>;

class TraceFrontTest : public TraceFixture {
 protected:
  TraceFront Front() const {
    const absl::StatusOr<TraceFront> front = ReadTraceFront(path_);
    EXPECT_TRUE(front.ok()) << front.status();
    return *front;
  }
};

TEST_F(TraceFrontTest, FactsAreKnownBeforeTheFirstEvent) {
  Begin({.with_summary = true}, {{"host", "node7"}, {"script", "train.py"}});
  const TraceFront front = Front();
  EXPECT_THAT(front.info, UnorderedElementsAre(Pair("host", "node7"), Pair("script", "train.py")));
  EXPECT_TRUE(absl::IsNotFound(front.summary.status()));
  EXPECT_FALSE(front.is_closed);
  EXPECT_FALSE(front.end_missing);
}

TEST_F(TraceFrontTest, SummaryIsTheLatest) {
  Begin({.with_summary = true});
  writer_->front()->WriteSummary("{}", 1);
  writer_->front()->WriteSummary("[]", 2);
  EXPECT_EQ(*Front().summary, "[]");
}

TEST_F(TraceFrontTest, LongFactsAreWhole) {
  Info info;
  for (char key = 'a'; key < 'k'; ++key) info[std::string(1, key)] = std::string(16 << 10, key);
  Begin({.with_summary = true}, info);
  EXPECT_EQ(Front().info, info);
}

TEST_F(TraceFrontTest, FactsOfAFileWithoutSummaryAreRead) {
  Begin({}, {{"host", "node7"}});
  WriteAllocations(1000);
  EXPECT_THAT(Front().info, UnorderedElementsAre(Pair("host", "node7")));
}

TEST_F(TraceFrontTest, FileThatLostItsEndIsNoticed) {
  Begin({.with_summary = true}, {{"host", "node7"}});
  WriteAllocations(1000);
  writer_->front()->WriteSummary("{}", 1);
  Close();
  EXPECT_TRUE(Front().is_closed);
  EXPECT_FALSE(Front().end_missing);
  std::filesystem::resize_file(path_, Front().file_bytes - 1);
  EXPECT_TRUE(Front().end_missing);
  EXPECT_EQ(*Front().summary, "{}");
}

TEST_F(TraceFrontTest, AnyBeginningOfAFileIsReadOrRefused) {
  Begin({.with_summary = true}, {{"host", "node7"}});
  writer_->front()->WriteSummary("{}", 1);
  Close();
  const std::string whole = ReadBytes(path_);
  const std::string cut = folder_.File("cut.trace");
  for (size_t bytes = 0; bytes < whole.size(); bytes += 97) {
    WriteBytes(cut, whole.substr(0, bytes));
    const absl::StatusOr<TraceFront> front = ReadTraceFront(cut);
    EXPECT_EQ(front.ok(), bytes >= 8) << bytes;
    if (front.ok() && front->summary.ok()) {
      EXPECT_EQ(*front->summary, "{}");
    }
  }
}

TEST_F(TraceFrontTest, DamagedFactsAreLeftOut) {
  Begin({.with_summary = true}, {{"host", "node7"}});
  Close();
  std::string bytes = ReadBytes(path_);
  bytes.at(bytes.find("node7")) ^= 1;
  WriteBytes(path_, bytes);
  EXPECT_THAT(Front().info, IsEmpty());
}

TEST_F(TraceFrontTest, OtherFilesAreRefused) {
  WriteBytes(path_, "{}");
  EXPECT_TRUE(absl::IsInvalidArgument(ReadTraceFront(path_).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadTraceFront(path_ + ".none").status()));
}

}  // namespace
}  // namespace memtrace::trace
