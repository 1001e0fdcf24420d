// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/kept_away.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::fit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeptAwayTest, SavesFilesAndProgramsAreReadFromTheTrace) {
  const KeptAway kept = KeptAwayOf({{"fit.kept_away.saves", "6"},
                                    {"fit.kept_away.files", "2"},
                                    {"fit.kept_away.first", R"(["/a/model.pt", "/a/out.txt"])"},
                                    {"fit.other_programs.count", "3"},
                                    {"fit.other_programs.first", R"(["rm"])"}});
  EXPECT_EQ(kept.saves, 6U);
  EXPECT_EQ(kept.files, 2U);
  EXPECT_THAT(kept.first, ElementsAre("/a/model.pt", "/a/out.txt"));
  EXPECT_FALSE(kept.is_nothing());
  EXPECT_EQ(kept.programs, 3U);
  EXPECT_THAT(kept.first_programs, ElementsAre("rm"));
}

TEST(KeptAwayTest, LayerFilesAreCountedWithoutCheckpoints) {
  const KeptAway stated =
      KeptAwayOf({{"fit.kept_away.saves", "1"}, {"fit.kept_away.first", R"(["/a/model.pt"])"}});
  const KeptAway kept =
      WithLayer(stated, {.names = {"/a/log", "/a/model.pt"}, .is_full = true}, {"/a/model.pt"});
  EXPECT_EQ(kept.saves, 1U);
  EXPECT_EQ(kept.files, 1U);
  EXPECT_THAT(kept.first, ElementsAre("/a/model.pt", "/a/log"));
  EXPECT_TRUE(kept.is_full);
}

TEST(KeptAwayTest, MissingOrInvalidAnnotationsCountAsNone) {
  EXPECT_TRUE(KeptAwayOf({}).is_nothing());
  const KeptAway kept =
      KeptAwayOf({{"fit.kept_away.saves", "-1"}, {"fit.kept_away.first", R"({"a": [1})"}});
  EXPECT_TRUE(kept.is_nothing());
  EXPECT_THAT(kept.first, IsEmpty());
}

}  // namespace
}  // namespace memtrace::fit
