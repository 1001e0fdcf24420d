// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/card.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace memtrace::card {
namespace {

constexpr std::uint64_t operator""_MiB(unsigned long long n) { return n << 20; }

class CardTest : public ::testing::Test {
 protected:
  Card card_{{.bytes = 1000_MiB, .context_bytes = 300_MiB, .other_bytes = 100_MiB}};
};

void ExpectSums(const Ledger& ledger) {
  EXPECT_EQ(ledger.total,
            ledger.context + ledger.other + ledger.runtime + ledger.vmm + ledger.free);
}

TEST_F(CardTest, ContextIsChargedOnceWhenItIsCreated) {
  EXPECT_EQ(card_.CurrentLedger().free, 900_MiB);
  EXPECT_TRUE(card_.ActivateContext());
  EXPECT_TRUE(card_.ActivateContext());
  EXPECT_EQ(card_.CurrentLedger().free, 600_MiB);
  EXPECT_EQ(card_.CurrentLedger().context, 300_MiB);
}

TEST_F(CardTest, ContextThatDoesNotFitIsRejected) {
  ASSERT_TRUE(card_.Charge(ChargeKind::kVmm, 700_MiB));
  EXPECT_FALSE(card_.ActivateContext());
  EXPECT_EQ(card_.CurrentLedger().context, 0u);
}

// The figures are an H200's (driver_facts.json, stream_steps).
TEST(HopperCardTest, StreamsTakeMemoryUntilTheyEnd) {
  Card card({.bytes = 1000_MiB, .context_bytes = 100_MiB, .compute_capability_major = 9});
  card.ActivateContext();
  const std::map<int, std::uint64_t> taken = {{1, 0_MiB},   {2, 2_MiB},   {5, 2_MiB},
                                              {6, 4_MiB},   {35, 18_MiB}, {36, 20_MiB},
                                              {79, 44_MiB}, {128, 70_MiB}};
  for (int streams = 1; streams <= 128; ++streams) {
    ASSERT_TRUE(card.AddStream());
    if (taken.contains(streams)) {
      EXPECT_EQ(card.CurrentLedger().free, 900_MiB - taken.at(streams)) << streams;
    }
  }
  ExpectSums(card.CurrentLedger());
  for (int streams = 0; streams < 128; ++streams) card.RemoveStream();
  EXPECT_EQ(card.CurrentLedger().free, 830_MiB);
  EXPECT_TRUE(card.Charge(ChargeKind::kRuntime, 900_MiB)) << "what they kept is given up";
  EXPECT_FALSE(card.Charge(ChargeKind::kRuntime, 2_MiB));
}

TEST_F(CardTest, LedgerCountsEveryByteOnce) {
  card_.ActivateContext();
  ASSERT_TRUE(card_.Charge(ChargeKind::kRuntime, 200_MiB));
  ASSERT_TRUE(card_.Charge(ChargeKind::kVmm, 300_MiB));
  card_.Discharge(ChargeKind::kRuntime, 50_MiB);
  const Ledger expected = {.total = 1000_MiB,
                           .context = 300_MiB,
                           .other = 100_MiB,
                           .runtime = 150_MiB,
                           .vmm = 300_MiB,
                           .free = 150_MiB,
                           .peak = 900_MiB};
  EXPECT_EQ(card_.CurrentLedger(), expected);
  ExpectSums(card_.CurrentLedger());
}

TEST_F(CardTest, ChargesSucceedUpToTheLastByte) {
  EXPECT_TRUE(card_.Charge(ChargeKind::kVmm, 900_MiB));
  EXPECT_EQ(card_.CurrentLedger().free, 0u);
  const Ledger before = card_.CurrentLedger();
  EXPECT_FALSE(card_.Charge(ChargeKind::kRuntime, 1));
  EXPECT_FALSE(card_.Charge(ChargeKind::kVmm, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(card_.CurrentLedger(), before);
}

TEST_F(CardTest, PeakIsKeptAfterMemoryIsFreed) {
  ASSERT_TRUE(card_.Charge(ChargeKind::kVmm, 500_MiB));
  card_.Discharge(ChargeKind::kVmm, 500_MiB);
  ASSERT_TRUE(card_.Charge(ChargeKind::kVmm, 10_MiB));
  EXPECT_EQ(card_.CurrentLedger().peak, 600_MiB);
}

}  // namespace
}  // namespace memtrace::card
