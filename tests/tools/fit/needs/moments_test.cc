// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/moments.h"

#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

TEST(MomentsTest, RowsAreReadWithWhatIsKnownBesideTheSteps) {
  const std::vector<MomentStay> stays =
      MomentStaysOf(R"([["evaluation",4,6,{"batches":5,"of":600,"growth":1024}],)"
                    R"(["checkpoint",7,7,{"ended_by":"OutOfMemoryError"}]])");
  ASSERT_EQ(stays.size(), 2U);
  EXPECT_EQ(stays[0].moment, "evaluation");
  EXPECT_EQ(stays[0].last, 6U);
  EXPECT_EQ(stays[0].of, 600U);
  EXPECT_EQ(stays[0].growth, 1024U);
  EXPECT_EQ(stays[1].ended_by, "OutOfMemoryError");
}

TEST(MomentsTest, MalformedRowsAreLeftOut) {
  EXPECT_TRUE(MomentStaysOf("").empty());
  EXPECT_TRUE(MomentStaysOf(R"({"evaluation": 4})").empty());
  EXPECT_TRUE(MomentStaysOf(R"([["evaluation"], ["evaluation", -1, 2], [4, 4, 4]])").empty());
  EXPECT_EQ(MomentStaysOf(R"([["end", 4, 4, {"of": "many", "ended_by": 3}]])")[0].of, 0U);
}

TEST(MomentsTest, StepBelongsToTheInnermostStay) {
  const std::vector<MomentStay> stays =
      MomentStaysOf(R"([["evaluation",5,7],["generation",6,6],["end",4,9]])");
  EXPECT_EQ(StayAt(stays, 5), 0);
  EXPECT_EQ(StayAt(stays, 6), 1);
  EXPECT_EQ(StayAt(stays, 8), 2);
  EXPECT_EQ(StayAt(stays, 3), -1);
}

}  // namespace
}  // namespace memtrace::fit
