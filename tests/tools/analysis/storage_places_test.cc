// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/storage_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memtrace::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StoragePlacesTest, CardsAndAddressesAreRead) {
  EXPECT_THAT(ParseStoragePlaces("0:7f0000000000 12:ffffffffffffffff"),
              ElementsAre(StoragePlace(0, 0x7f0000000000), StoragePlace(12, ~uint64_t{0})));
}

TEST(StoragePlacesTest, InvalidWordsAreIgnored) {
  EXPECT_THAT(ParseStoragePlaces(""), IsEmpty());
  EXPECT_THAT(ParseStoragePlaces("0 :1 0: 0:g 0:1ffffffffffffffff a:1 0:2"),
              ElementsAre(StoragePlace(0, 2)));
}

}  // namespace
}  // namespace memtrace::analysis
