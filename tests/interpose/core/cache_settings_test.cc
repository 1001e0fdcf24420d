// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/cache_settings.h"

#include <gmock/gmock.h>

#include "base/units.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CacheSettingsTest, UnsetVariablesSetNoBounds) {
  const CacheSettings settings = ReadCacheSettings("", "");
  EXPECT_EQ(settings.bounds.limit, ~Bytes{0});
  EXPECT_EQ(settings.bounds.age, 0u);
  EXPECT_THAT(settings.problems, IsEmpty());
}

TEST(CacheSettingsTest, SizesAndStepsAreRead) {
  const CacheSettings settings = ReadCacheSettings("2GiB", "5");
  EXPECT_EQ(settings.bounds.limit, 2_GiB);
  EXPECT_EQ(settings.bounds.age, 5u);
  EXPECT_EQ(ReadCacheSettings("0", "0").bounds.limit, Bytes{0});
}

TEST(CacheSettingsTest, WrongValuesAreToldAndSetNoBounds) {
  const CacheSettings settings = ReadCacheSettings("much", "-1");
  EXPECT_EQ(settings.bounds.limit, ~Bytes{0});
  EXPECT_EQ(settings.bounds.age, 0u);
  EXPECT_THAT(settings.problems,
              ElementsAre("MEMTRACE_CACHE_LIMIT is ignored: 'much' is not a size; write for "
                          "example 2GiB.",
                          "MEMTRACE_CACHE_AGE is ignored: '-1' is not a number of steps."));
}

}  // namespace
}  // namespace memtrace
