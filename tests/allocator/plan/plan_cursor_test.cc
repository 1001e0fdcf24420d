// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/plan/plan_cursor.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

namespace memtrace {
namespace {

// A letter stands for a size; the n-th item of the plan has the offset n. Uppercase letters are
// requests that only a test makes.
class PlanCursorTest : public ::testing::Test {
 protected:
  static Bytes SizeOf(char letter) { return 2_MiB * static_cast<Bytes>(letter); }

  // Sets the plan: "abc|defg" has a prologue and a cycle.
  void Plan(std::string_view letters) {
    section_ = {};
    for (const char letter : letters) {
      if (letter == '|') {
        section_.prologue = section_.items.size();
      } else {
        section_.items.push_back({SizeOf(letter), section_.items.size()});
      }
    }
    if (letters.find('|') == std::string_view::npos) section_.prologue = section_.items.size();
    cursor_.emplace(section_);
  }

  // Returns the item of each request as a digit or letter, '-' if none. Spaces are only for
  // readability.
  std::string Places(std::string_view requests) {
    std::string places;
    for (const char letter : requests) {
      if (letter == ' ') {
        places += ' ';
        continue;
      }
      const auto due = cursor_->NextIfDue(SizeOf(letter));
      const auto offset = cursor_->Next(SizeOf(letter));
      EXPECT_TRUE(!due.has_value() || due == offset);
      places += offset.has_value() ? "0123456789abcdefghijklmn"[*offset] : '-';
    }
    return places;
  }

  PlanSection section_;
  std::optional<PlanCursor> cursor_;
};

TEST_F(PlanCursorTest, PrologueRunsOnceAndCycleRepeats) {
  Plan("abc|defg");
  EXPECT_EQ(Places("abc defg defg defg"), "012 3456 3456 3456");
}

TEST_F(PlanCursorTest, NothingIsDueAfterAPrologueWithoutACycle) {
  Plan("abcdef");
  EXPECT_EQ(Places("abcdef f ef"), "012345 - --");
  EXPECT_EQ(Places("a bcdef"), "- --345");  // the program starts again
}

TEST_F(PlanCursorTest, ExtraRequestMissesOnlyItself) {
  Plan("a|bcdefg");
  EXPECT_EQ(Places("a bcXdefg Xbcdefg bcdefgXX bcdefg"), "0 12-3456 -123456 123456-- 123456");
}

TEST_F(PlanCursorTest, UnplannedPhaseMissesOnlyItself) {
  Plan("a|bcdefg");
  EXPECT_EQ(Places("a bcdefg XYZXYZXYZ bcdefg"), "0 123456 --------- 123456");
}

TEST_F(PlanCursorTest, MissingRequestMissesTheNextThree) {
  Plan("a|bcdefghi");
  EXPECT_EQ(Places("a b defghi bcdefghi"), "0 1 ---678 12345678");
}

TEST_F(PlanCursorTest, ChangedSizeMissesItselfAndTheNextThree) {
  Plan("a|bcdefghi");
  EXPECT_EQ(Places("a bXdefghi bcdefghi"), "0 1----678 12345678");
}

TEST_F(PlanCursorTest, MissingPrologueStillFindsTheCycle) {
  Plan("abcdef|ghijkl");
  EXPECT_EQ(Places("ghijkl ghijkl"), "---9ab 6789ab");
}

TEST_F(PlanCursorTest, EqualLayersAreDistinguishedByTheCursorsPosition) {
  // Three layers of b c d e; the head of the second has an extra request.
  Plan("a|bcdebcdebcdef");
  EXPECT_EQ(Places("a bcde Xbcde bcdef bcdebcdebcdef"), "0 1234 -5678 9abcd 123456789abcd");
}

TEST_F(PlanCursorTest, SkippedLayerIsNoticedAfterTheRepeatedLayers) {
  Plan("a|bcdebcdebcdefghij");
  const std::string places = Places("a bcdebcdefghij bcde");
  EXPECT_EQ(places.substr(0, 10), "0 12345678");  // two layers, as if nothing were missing
  EXPECT_EQ(places.substr(places.size() - 4), "1234");
}

TEST_F(PlanCursorTest, NextOfSeveralMatchingPlacesIsChosen) {
  Plan("a|bcdefgQRbcdefgST");
  EXPECT_EQ(Places("a bcdefgQR cdefg S"), "0 12345678 ---de f");  // not at the first place
}

TEST_F(PlanCursorTest, GramsSpanTheEndOfTheCycle) {
  Plan("a|bcdefg");
  EXPECT_EQ(Places("a bcd QQQQ fgbc defg"), "0 123 ---- ---2 3456");
}

TEST_F(PlanCursorTest, EmptyAndShortPlansAreFollowed) {
  Plan("");
  EXPECT_EQ(Places("abcabc"), "------");
  Plan("a");
  EXPECT_EQ(Places("aaaaa"), "0----");
  Plan("|a");
  EXPECT_EQ(Places("aaXa"), "00-0");
  Plan("ab|c");
  EXPECT_EQ(Places("Xabccc"), "-01222");
}

TEST_F(PlanCursorTest, OtherSizesNeverMatch) {
  Plan("abc|defg");
  EXPECT_EQ(Places("XYZXYZXYZXYZ"), "------------");
}

}  // namespace
}  // namespace memtrace
