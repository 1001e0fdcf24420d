// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/fleet_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/profiler/trace/trace_fixture.h"
#include "tools/fleet/trace_walk.h"

namespace memtrace::fleet {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FleetRowsTest : public testing::Test {
 protected:
  // Makes a trace whose process wrote nothing but its first pages.
  void Make(const std::string& name) const {
    ASSERT_TRUE(trace::TraceWriter::Open(folder_.File(name), {}, {.with_summary = true}).ok());
  }
  // Returns the names of the files of all rows.
  std::vector<std::string> Write() {
    std::ostringstream out;
    tally_ = WriteRows(FindFiles(folder_.path()), out);
    std::vector<std::string> names;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);)
      names.push_back(
          json::parse(line)["file"].get<std::string>().substr(folder_.path().size() + 1));
    return names;
  }

  trace::TemporaryFolder folder_;
  Tally tally_;
};

TEST_F(FleetRowsTest, OnlyTracesAndFilesNamedLikeOneHaveRows) {
  Make("a");
  Make("b.trace");
  trace::WriteBytes(folder_.File("c.trace"), "{}");
  trace::WriteBytes(folder_.File("d.json"), "{}");
  EXPECT_THAT(Write(), ElementsAre("a", "b.trace", "c.trace"));
  EXPECT_EQ(tally_.rows, 3U);
  EXPECT_EQ(tally_.with_figures, 0U);
  EXPECT_EQ(tally_.with_problems, 3U);
  EXPECT_THAT(tally_.problems, ElementsAre(HasSubstr("has no summary"), HasSubstr("has no summary"),
                                           HasSubstr("is not a memtrace trace")));
}

TEST_F(FleetRowsTest, RowsKeepTheOrderOfTheFiles) {
  std::vector<std::string> names;
  for (int i = 1000; i < 4000; ++i) {
    names.push_back(std::to_string(i) + ".trace");
    trace::WriteBytes(folder_.File(names.back()), "");
  }
  EXPECT_EQ(Write(), names);
  EXPECT_EQ(tally_.with_problems, 3000U);
  EXPECT_THAT(tally_.problems, SizeIs(Tally::kMostNamed));
}

TEST_F(FleetRowsTest, EmptyFolderHasNoRows) {
  EXPECT_THAT(Write(), SizeIs(0));
  EXPECT_EQ(tally_.rows, 0U);
}

}  // namespace
}  // namespace memtrace::fleet
