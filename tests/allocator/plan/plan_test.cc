// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace memtrace {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText =
    "memtrace-plan 1\n"
    "section 0 0 6291456 1 2\n"
    "2097152 4194304\n"
    "2097152 0\n"
    "4194304 0\n"
    "section 0 1 2097152 0 1\n"
    "2097152 0\n"
    "end\n";

std::string Problem(const std::string& text) {
  return std::string(Plan::Parse(text).status().message());
}

// Returns a section of one item.
std::string WithItem(const std::string& item) {
  return "memtrace-plan 1\nsection 0 0 4194304 0 1\n" + item + "\nend\n";
}

TEST(PlanTest, WrittenPlanIsReadBack) {
  const auto plan = Plan::Parse(kText);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->Text(), kText);
  const PlanSection* section = plan->Find(DeviceIndex{0}, 0);
  ASSERT_NE(section, nullptr);
  EXPECT_EQ(section->bytes, 6_MiB);
  EXPECT_EQ(section->prologue, 1u);
  EXPECT_EQ(section->cycle(), 2u);
  EXPECT_EQ(section->items[0], (PlanSection::Item{2_MiB, 4_MiB}));
  EXPECT_EQ(plan->Find(DeviceIndex{0}, 2), nullptr);
}

TEST(PlanTest, PlanOfOneCardAppliesToEveryCard) {
  const auto plan = Plan::Parse(kText);
  EXPECT_EQ(plan->Find(DeviceIndex{3}, 1), plan->Find(DeviceIndex{0}, 1));
  const auto two = Plan::Parse(
      "memtrace-plan 1\nsection 0 0 2097152 0 1\n2097152 0\n"
      "section 1 0 4194304 0 1\n4194304 0\nend\n");
  EXPECT_EQ(two->Find(DeviceIndex{1}, 0)->bytes, 4_MiB);
  EXPECT_EQ(two->Find(DeviceIndex{2}, 0), nullptr);
}

TEST(PlanTest, EmptyPlanHasNoSections) {
  const auto plan = Plan::Parse("memtrace-plan 1\nend\n");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->Find(DeviceIndex{0}, 0), nullptr);
}

TEST(PlanTest, LaterVersionIsRejectedByNumber) {
  const absl::Status status = Plan::Parse("memtrace-plan 2\nanything").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("version 2, which a later memtrace wrote"));
}

TEST(PlanTest, TextThatIsNotAPlanIsRejected) {
  EXPECT_EQ(Problem(""), "line 1: it is not a plan that memtrace plan wrote");
  EXPECT_EQ(Problem("memtrace"), "line 1: it is not a plan that memtrace plan wrote");
  EXPECT_EQ(Problem("memtrace-plan 1"), "line 1: it is not a plan that memtrace plan wrote");
  EXPECT_EQ(Problem("memtrace-plan 0\nend\n"), "line 1: the plan has an unknown version");
  EXPECT_EQ(Problem("memtrace-plan 1\nrest\n"), "line 2: it is neither a section nor the end");
}

TEST(PlanTest, EveryTruncationIsDetected) {
  const std::string text = kText;
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(Plan::Parse(text.substr(0, length)).ok()) << length;
  }
  EXPECT_EQ(Problem(text + "x"), "line 8: there is more after the end");
}

TEST(PlanTest, InvalidItemsAreRejected) {
  EXPECT_TRUE(Plan::Parse(WithItem("2097152 2097152")).ok());
  EXPECT_THAT(Problem(WithItem("2097152 2097664")), HasSubstr("outside the planned bytes"));
  EXPECT_THAT(Problem(WithItem("2097152 18446744073709551104")),
              HasSubstr("outside the planned bytes"));
  EXPECT_THAT(Problem(WithItem("2097153 0")), HasSubstr("not a multiple of 512"));
  EXPECT_THAT(Problem(WithItem("2097152 1")), HasSubstr("not a multiple of 512"));
  EXPECT_THAT(Problem(WithItem("1048576 0")), HasSubstr("small blocks are not planned"));
  EXPECT_THAT(Problem(WithItem("2097152  0")), HasSubstr("a size and an offset are missing"));
  EXPECT_THAT(Problem(WithItem("-1 0")), HasSubstr("a size and an offset are missing"));
  EXPECT_THAT(Problem(WithItem("2097152 0 0")), HasSubstr("a size and an offset are missing"));
  EXPECT_THAT(Problem(WithItem("99999999999999999999 0")), HasSubstr("missing"));
}

TEST(PlanTest, InvalidSectionsAreRejected) {
  const std::string begin = "memtrace-plan 1\nsection ";
  EXPECT_THAT(Problem(begin + "1024 0 0 0 0\nend\n"), HasSubstr("no such card or stream"));
  EXPECT_THAT(Problem(begin + "0 1024 0 0 0\nend\n"), HasSubstr("no such card or stream"));
  EXPECT_THAT(Problem(begin + "0 0 0 0 999999999\nend\n"), HasSubstr("too many items"));
  EXPECT_THAT(Problem(begin + "0 0 0 18446744073709551615 1\nend\n"), HasSubstr("too many items"));
  EXPECT_THAT(Problem(begin + "0 0 0 0 16777216\nend\n"), HasSubstr("line 3: a size"));
  EXPECT_THAT(Problem(begin + "0 0 18446744073709551615 0 0\nend\n"),
              HasSubstr("no card has so many bytes"));
  EXPECT_THAT(Problem(begin + "0 0 0 0 0\nsection 0 0 0 0 0\nend\n"),
              HasSubstr("line 3: the card and stream appear twice"));
}

TEST(PlanTest, MissingFileIsNamed) {
  const absl::Status status = Plan::Read("/nowhere/run.plan").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(std::string(status.message()), "cannot open /nowhere/run.plan");
}

TEST(PlanTest, ErrorNamesFileAndLine) {
  const std::string path = ::testing::TempDir() + "/broken.plan";
  std::ofstream(path) << "memtrace-plan 1\nend";
  EXPECT_EQ(std::string(Plan::Read(path).status().message()),
            path + ": line 2: the file ends early");
  std::ofstream(path) << kText;
  EXPECT_TRUE(Plan::Read(path).ok());
  std::remove(path.c_str());
}

}  // namespace
}  // namespace memtrace
