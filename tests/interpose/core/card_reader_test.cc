// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A card whose driver says free and total only, as a real one's.
#include "interpose/core/outside/card_reader.h"

#include <gtest/gtest.h>

namespace memtrace {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr Bytes kGiB = Bytes{1} << 30;
constexpr Bytes kTotal = 140 * kGiB;

DeviceMemory Used(Bytes bytes) { return {.free = kTotal - bytes, .total = kTotal}; }

trace::CardLedger Read(const CardReader& reader, Bytes reserved, Bytes outside, Bytes used) {
  return reader.Read({.reserved = reserved}, outside, Used(used));
}

TEST(CardReaderTest, MemoryUsedAtTheFirstLookIsTheContext) {
  CardReader reader(0);
  EXPECT_FALSE(reader.has_looked());
  reader.Look(Used(600 * kMiB), 20 * kMiB);
  reader.Look(Used(900 * kMiB), 20 * kMiB);  // only the first look counts
  const trace::CardLedger ledger = Read(reader, kGiB, 64 * kMiB, 2 * kGiB);
  EXPECT_EQ(ledger.context, 580 * kMiB);
  EXPECT_EQ(ledger.other_processes, 0u);
}

// On a card with eight other processes, 57.66 GiB once counted as the context, and -55.25 as
// unexplained.
TEST(CardReaderTest, MoreThanAContextBelongsToOtherProcesses) {
  CardReader reader(0);
  reader.Look(Used(58 * kGiB), 20 * kMiB);
  const trace::CardLedger ledger = Read(reader, kGiB, 64 * kMiB, 58 * kGiB);
  EXPECT_LT(ledger.context, kGiB);
  EXPECT_EQ(ledger.other_processes, 58 * kGiB - kGiB - 64 * kMiB - ledger.context);
  EXPECT_EQ(Read(reader, kGiB, 64 * kMiB, kGiB).other_processes, 0u) << "the others ended";
}

}  // namespace
}  // namespace memtrace
