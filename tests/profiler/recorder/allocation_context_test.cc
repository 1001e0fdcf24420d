// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/allocation_context.h"

#include <gtest/gtest.h>

namespace memtrace::recorder {
namespace {

TEST(ContextTableTest, PackedContextsAreUnpackedUnchanged) {
  ContextTable table;
  for (uint32_t i = 0; i < 5000; ++i) {
    const AllocationContext context{.stack = i * 800'000, .owner = i * 70'000, .module = i % 7};
    EXPECT_EQ(table.Unpack(table.Pack(context)), context);
  }
}

TEST(ContextTableTest, EmptyContextIsZero) {
  ContextTable table;
  EXPECT_EQ(table.Pack({}), ContextId{});
  EXPECT_EQ(table.Unpack(ContextId{0}), AllocationContext{});
}

TEST(ContextTableTest, EqualPairsShareANumber) {
  ContextTable table;
  EXPECT_EQ(table.Number({.owner = 3, .module = 4}), table.Number({.owner = 3, .module = 4}));
  EXPECT_NE(table.Number({.owner = 3, .module = 4}), table.Number({.owner = 4, .module = 3}));
}

TEST(ContextTableTest, UnknownWordIsReadAsAStack) {
  ContextTable table;
  EXPECT_EQ(table.Unpack(ContextId{0xffff'ffff'0000'0005}), (AllocationContext{.stack = 5}));
}

TEST(ContextTableTest, FullTableFallsBackToTheOwnerAlone) {
  ContextTable table;
  const ScopeId owner_alone = table.Number({.owner = 9, .module = 0});
  for (uint32_t i = 0; i < ContextTable::kMaxScopes; ++i) table.Number({.owner = 1, .module = i});
  EXPECT_EQ(table.Number({.owner = 9, .module = 77}), owner_alone);
  EXPECT_EQ(table.Number({.owner = 10, .module = 77}), 0U);
}

}  // namespace
}  // namespace memtrace::recorder
