// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/printable.h"

#include <gtest/gtest.h>

namespace memtrace::report {
namespace {

TEST(WidthTest, CountsTheColumnsOfATerminal) {
  EXPECT_EQ(Width("übergröße.py"), 12U);
  EXPECT_EQ(Width("日本語"), 6U);
  EXPECT_EQ(Width("한국어.py"), 9U);
  EXPECT_EQ(Width("🔥"), 2U);
  EXPECT_EQ(Width("e\u0301"), 1U);  // an accent of its own
  EXPECT_EQ(Width("███▌ · …"), 8U);
  EXPECT_EQ(Width("\xff\xfe"), 2U);
}

TEST(ShortenedTest, WideCharacterIsNotSplit) {
  EXPECT_EQ(Shortened("日本語.py", 6), "日本…");
  EXPECT_EQ(Shortened("日本語.py", 7), "日本語…");
  EXPECT_EQ(ShortenedFront("モデル/日本語.py", 9), "…本語.py");
  EXPECT_EQ(LeftAligned("日本語.py", 6), "日本… ");
  EXPECT_EQ(RightAligned("日本", 6), "  日本");
}

TEST(ShortenedTest, CutsTheEndOrTheBeginningAtWholeCharacters) {
  EXPECT_EQ(Shortened("torch/optim/adam.py:791", 10), "torch/opt…");
  EXPECT_EQ(ShortenedFront("torch/optim/adam.py:791", 12), "…adam.py:791");
  EXPECT_EQ(ShortenedFront("übergröße.py", 8), "…röße.py");
  EXPECT_EQ(ShortenedFront("a.py", 4), "a.py");
  EXPECT_EQ(ShortenedFront("a.py", 1), "…");
}

}  // namespace
}  // namespace memtrace::report
