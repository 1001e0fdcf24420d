// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

TEST(QuantityTest, QuantitiesAreFormattedForReading) {
  EXPECT_EQ(FormatBytes(0), "0 bytes");
  EXPECT_EQ(FormatBytes(1), "1 byte");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(40999321), "39.1 MiB");
  EXPECT_EQ(FormatBytes(6227702579), "5.80 GiB");
  EXPECT_EQ(FormatCount(41212), "41,212");
  EXPECT_EQ(FormatCount(1000000), "1,000,000");
  EXPECT_EQ(FormatHundredths(-105), "-1.05");
}

TEST(AdditiveHundredthsTest, DifferentThirdsStillSumToTheWhole) {
  const TableUnit unit{"", 30'000};
  EXPECT_THAT(AdditiveHundredths({10'001, 10'000, 9'999}, 100, unit),
              testing::ElementsAre(34, 33, 33));
}

TEST(AdditiveHundredthsTest, EqualBytesHaveEqualFigures) {
  const TableUnit unit{"", 1000};
  // Both are 1.875, so the missing hundredth goes to the row that lost less.
  EXPECT_THAT(AdditiveHundredths({1875, 1875, 4003}, 775, unit),
              testing::ElementsAre(187, 187, 401));
  // Nothing else lost anything.
  EXPECT_THAT(AdditiveHundredths({1875, 1875, 4000}, 775, unit),
              testing::ElementsAre(187, 187, 401));
  // Enough is missing for both.
  EXPECT_THAT(AdditiveHundredths({1875, 1875, 4005, 3005}, 1076, unit),
              testing::ElementsAre(188, 188, 400, 300));
  EXPECT_THAT(AdditiveHundredths({100, 100, 100}, 100, {"", 300}),
              testing::ElementsAre(33, 33, 33));
}

TEST(AdditiveHundredthsTest, ZeroStaysZeroAndTheRestAbsorbsRounding) {
  const TableUnit unit{"", 1000};
  EXPECT_THAT(AdditiveHundredths({1005, 0, -5}, 100, unit), testing::ElementsAre(101, 0, -1));
}

TEST(AdditiveHundredthsTest, RandomTablesSumWithErrorsBelowAHundredth) {
  std::mt19937_64 random(9);
  const TableUnit unit = UnitFor(uint64_t{80} << 30);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> bytes(10);
    for (int64_t& value : bytes) value = static_cast<int64_t>(random() % (uint64_t{8} << 30));
    const int64_t whole = std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
    const int64_t total = Hundredths(whole, unit);
    const auto figures = AdditiveHundredths(bytes, total, unit);
    EXPECT_EQ(std::accumulate(figures.begin(), figures.end(), int64_t{0}), total);
    for (size_t i = 0; i < bytes.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(figures[i]),
                  static_cast<double>(bytes[i]) * 100 / static_cast<double>(unit.bytes), 1.0);
    }
  }
}

TEST(PrintableTest, ControlAndInvalidCharactersAreEscaped) {
  EXPECT_EQ(Printable("plain é 漢"), "plain é 漢");
  EXPECT_EQ(Printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(Printable("a\nb\tc\x7f"), "a\\x0ab\\x09c\\x7f");
  EXPECT_EQ(Printable("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\x9b");
  EXPECT_EQ(Printable("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(PrintableTest, LinesAreBrokenBeforeTheLastColumn) {
  const std::string text = Wrapped(std::string(60, 'a') + " " + std::string(60, 'b'), 2);
  EXPECT_EQ(text, std::string(60, 'a') + "\n  " + std::string(60, 'b') + "\n");
  EXPECT_EQ(Shortened("abcdef", 4), "abc…");
  EXPECT_EQ(Bar(2.5), "██▌");
}

TEST(PrintableTest, ChineseIsBrokenBetweenItsCharactersButNotBeforeAComma) {
  std::string line;
  for (int i = 0; i < 49; ++i) line += "显";
  EXPECT_EQ(Wrapped(std::string(97, 'a') + " 5 % less", 2),
            std::string(97, 'a') + "\n  5 % less\n");
  EXPECT_EQ(Wrapped(line + "存，不足", 2), line + "\n  存，不足\n");
  EXPECT_EQ(Wrapped(line + "（存", 2), line + "\n  （存\n");
  EXPECT_EQ(Wrapped(line + "存够", 2), line + "存\n  够\n");
}

TEST(FormatDurationTest, UnitFollowsTheMagnitude) {
  EXPECT_EQ(FormatDuration(0), "0.0 us");
  EXPECT_EQ(FormatDuration(7'890), "7.8 us");
  EXPECT_EQ(FormatDuration(1'560'000), "1.5 ms");
  EXPECT_EQ(FormatDuration(400'000'000), "0.40 s");
}

}  // namespace
}  // namespace memtrace::report
