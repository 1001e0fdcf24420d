// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/column_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace memtrace::fleet {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(ColumnValuesTest, UnknownValuesAreLeftOut) {
  ColumnValues values;
  values.Text("script", "");
  values.Number("peak", std::nullopt);
  values.ParsedNumber("rank", "");
  values.ParsedNumber("pid", "4711x");
  values.Moment("started", 0);
  EXPECT_EQ(values.Line(), "{}");
}

TEST(ColumnValuesTest, MomentsAreUtcToTheMicrosecond) {
  ColumnValues values;
  values.Moment("started", 1'795'848'776'650'460'973);
  EXPECT_EQ(values.Line(), R"({"started":"2026-11-28 06:52:56.650460"})");
}

TEST(ColumnValuesTest, CountsThatNoColumnHoldsAreCut) {
  ColumnValues values;
  values.Number("bytes", kMost);
  EXPECT_EQ(values.Line(), R"({"bytes":9223372036854775807})");
  EXPECT_EQ(CappedSum(kMost, 1), kMost);
  EXPECT_EQ(CappedSum(1, 2), 3U);
}

TEST(ColumnValuesTest, TextIsOneLineOfUtf8) {
  ColumnValues values;
  values.Text("file", "a\xff\n\"b");
  EXPECT_EQ(values.Line(), "{\"file\":\"a\xef\xbf\xbd\\n\\\"b\"}");
}

}  // namespace
}  // namespace memtrace::fleet
