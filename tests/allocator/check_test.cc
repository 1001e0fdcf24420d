// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

#include "base/units.h"

namespace memtrace {
namespace {

TEST(CheckDeathTest, FailedComparisonNamesBothValues) {
  const Bytes mapped = 5;
  EXPECT_DEATH(MEMTRACE_CHECK_EQ(mapped, Bytes{7}), "mapped == Bytes\\{7\\} \\(5 vs 7\\)");
}

TEST(CheckDeathTest, EnumsPrintAsNumbers) {
  EXPECT_DEATH(MEMTRACE_CHECK_NE(StreamId{3}, StreamId{3}), "3 vs 3");
}

TEST(CheckTest, ValuesAreEvaluatedOnce) {
  int calls = 0;
  MEMTRACE_CHECK_GT(++calls, 0);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace memtrace
