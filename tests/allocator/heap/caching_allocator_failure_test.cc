// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests of a full card, a reached limit, and a failing driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocator/heap/caching_allocator.h"
#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FullCardTest, LastGranuleIsUsable) {
  Card card(64_MiB);
  card.Allocate(64_MiB);
  EXPECT_EQ(card.FailToAllocate(512).device_free, 0u);
}

TEST(FullCardTest, OutOfMemoryEventAccountsForTheWholeCard) {
  Card card(64_MiB);
  card.Allocate(20_MiB - 100);
  const DeviceAddress hole = card.Allocate(3_MiB);
  card.Allocate(9_MiB);
  EXPECT_TRUE(card.Free(hole).ok());
  const OutOfMemoryEvent event = card.FailToAllocate(40_MiB - 1);
  EXPECT_EQ(event.requested, 40_MiB - 1);
  EXPECT_EQ(event.allocated, 40_MiB);
  EXPECT_EQ(event.device_total, 64_MiB);
  EXPECT_EQ(event.device_free, 34_MiB);  // one granule of the hole was taken back
  EXPECT_EQ(event.obtainable, 34_MiB);
  EXPECT_EQ(event.limit, ~Bytes{0});
  EXPECT_EQ(event.ledger.reserved, 30_MiB);
  EXPECT_EQ(event.ledger.live_requested, 29_MiB - 100);
  EXPECT_EQ(event.ledger.live_allocated, 29_MiB);
  EXPECT_EQ(event.ledger.holes, 1_MiB);
  EXPECT_EQ(event.ledger.largest_hole, 1_MiB);
  card.Allocate(34_MiB);
}

TEST(FullCardTest, ObtainableIncludesTheFreeTailBesideTheHole) {
  Card card(64_MiB);
  card.Allocate(61_MiB);
  EXPECT_EQ(card.FailToAllocate(5_MiB).obtainable, 3_MiB);
  card.Allocate(3_MiB);
}

TEST(FullCardTest, RetriesAndFailuresAreCountedAsTorchDoes) {
  Card card(64_MiB);
  card.FailToAllocate(65_MiB);
  card.FailToAllocate(Bytes{1} << 63);
  card.FailToAllocate(~Bytes{0});
  const Statistics statistics = card.allocator.accounts().statistics();
  EXPECT_EQ(statistics.num_ooms, 3);
  EXPECT_EQ(statistics.num_alloc_retries, 3);
  EXPECT_EQ(statistics.num_device_alloc, 0);
  EXPECT_THAT(card.Contents(), IsEmpty());
}

TEST(FullCardTest, LimitStopsGrowthButNotReuse) {
  Card card(64_MiB, {.limit = 16_MiB});
  const DeviceAddress address = card.Allocate(16_MiB);
  const OutOfMemoryEvent event = card.FailToAllocate(512);
  EXPECT_EQ(event.limit, 16_MiB);
  EXPECT_EQ(event.device_free, 48_MiB);
  EXPECT_EQ(event.obtainable, 0u);
  EXPECT_TRUE(card.Free(address).ok());
  card.allocator.SetLimit(1);
  EXPECT_EQ(card.Allocate(10_MiB), address);
}

TEST(FullCardTest, RejectedRequestReclaimsNothing) {
  Card card(64_MiB);
  EXPECT_TRUE(card.Free(card.Allocate(32_MiB, kSide)).ok());
  const CachingAllocator::Request request{.bytes = 16_MiB, .stream = kMain, .reject_above = 40_MiB};
  const auto rejected = std::get<OutOfMemoryEvent>(card.allocator.Allocate(request));
  EXPECT_TRUE(rejected.is_rejected);
  EXPECT_THAT(card.Contents(), ElementsAre("2 large: (32MiB)"));
  EXPECT_EQ(card.allocator.accounts().statistics().num_ooms, 0);
  EXPECT_EQ(card.allocator.accounts().statistics().num_alloc_retries, 0);
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(card.allocator.Allocate(
      {.bytes = 16_MiB, .stream = kSide, .reject_above = 40_MiB})));  // from the cache
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(card.allocator.Allocate(
      {.bytes = 8_MiB, .stream = kMain, .reject_above = 40_MiB})));  // to the limit
}

TEST(TakeBackTest, ChunksChangeOwnerOnlyAfterAnEvent) {
  Card card(64_MiB);
  const DeviceAddress address = card.Allocate(64_MiB, kSide);
  EXPECT_TRUE(card.Free(address).ok());  // its work on kSide is unfinished
  card.Allocate(40_MiB, kMain);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
  EXPECT_EQ(card.failures.calls(DriverCall::kWait), 1u);
  EXPECT_EQ(card.allocator.accounts().statistics().num_alloc_retries, 1);
}

TEST(TakeBackTest, OnlyTheMissingMemoryIsReclaimed) {
  Card card(128_MiB);
  const std::vector<DeviceAddress> blocks = card.AllocateMany(4, 32_MiB, kSide);
  for (const DeviceAddress block : blocks) EXPECT_TRUE(card.Free(block).ok());
  card.Allocate(30_MiB, kMain);
  EXPECT_THAT(card.Contents(), ElementsAre("2 large: (98MiB)", "1 large: 30MiB"));
}

TEST(TakeBackTest, ScatteredFreeChunksOfTheOwnStreamMakeOneBlock) {
  Card card(64_MiB);
  const std::vector<DeviceAddress> blocks = card.AllocateMany(16, 4_MiB);
  for (size_t i = 0; i < 16; i += 2) EXPECT_TRUE(card.Free(blocks[i]).ok());
  card.Allocate(32_MiB);  // half the card, of which no two chunks are neighbours
  EXPECT_EQ(card.allocator.accounts().ledger().live_allocated, 64_MiB);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(TakeBackTest, WaitingFreesAreUsedBeforeOutOfMemoryIsReported) {
  Card card(64_MiB);
  const DeviceAddress shared = card.Allocate(64_MiB);
  EXPECT_TRUE(card.Share(shared, 64_MiB, kSide).ok());
  EXPECT_TRUE(card.Free(shared).ok());
  EXPECT_EQ(card.Allocate(64_MiB), shared);
  EXPECT_EQ(card.allocator.accounts().statistics().num_ooms, 0);
}

TEST(TakeBackTest, MemoryOfWaitingFreesIsReclaimedForAnotherStream) {
  Card card(64_MiB);
  const DeviceAddress shared = card.Allocate(64_MiB, kSide);
  EXPECT_TRUE(card.Share(shared, 64_MiB, kMain).ok());
  EXPECT_TRUE(card.Free(shared).ok());
  card.Allocate(64_MiB, kMain);
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 64MiB"));
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

// The state that a caller can see, except for counters of attempts.
struct Visible {
  explicit Visible(const Card& card)
      : contents(card.Contents()),
        used(card.vmm.used()),
        statistics(card.allocator.accounts().statistics()) {}

  friend bool operator==(const Visible& a, const Visible& b) {
    const auto same = [&](StatisticByPool Statistics::*by_pool) {
      const Statistic& x = (a.statistics.*by_pool).all;
      const Statistic& y = (b.statistics.*by_pool).all;
      return x.current == y.current && x.peak == y.peak && x.allocated == y.allocated;
    };
    return a.contents == b.contents && a.used == b.used && same(&Statistics::allocation) &&
           same(&Statistics::active_bytes) && same(&Statistics::requested_bytes) &&
           same(&Statistics::reserved_bytes) && same(&Statistics::segment);
  }

  std::vector<std::string> contents;
  Bytes used;
  Statistics statistics;
};

// A card with holes, a cache, a waiting block and a pinned small one.
void Prepare(Card& card) {
  card.Allocate(512);
  const DeviceAddress hole = card.Allocate(9_MiB);
  const DeviceAddress shared = card.Allocate(3_MiB);
  card.Allocate(5_MiB);
  EXPECT_TRUE(card.Free(hole).ok());
  EXPECT_TRUE(card.Share(shared, 3_MiB, kSide).ok());
  EXPECT_TRUE(card.Free(shared).ok());
}

struct FailureCase {
  absl::StatusCode code;
  CallFailures::Repeat repeat;
};

// Outside the template, because there clang 14 would call the consteval operator at run time.
constexpr Bytes kCardBytes = 96_MiB;

// Makes each call of `act` fail in turn, `check`s the card after each, then expects that `act`
// succeeds.
template <typename Act, typename Check>
void FailEachCall(FailureCase failure, Act act, Check check) {
  for (uint64_t nth = 1;; ++nth) {
    SCOPED_TRACE(absl::StrCat("call ", nth));
    Card card(kCardBytes);
    Prepare(card);
    const Visible before(card);
    card.failures.FailNthOfAny(nth, failure.repeat, absl::Status(failure.code, "injected"));
    const bool ok = act(card);
    const bool happened = card.failures.failed() > 0;
    card.failures.StopFailing();
    card.allocator.CheckInvariants();
    EXPECT_THAT(card.vmm.faults(), IsEmpty());
    if (!ok) check(card, before);
    EXPECT_TRUE(ok || act(card));
    EXPECT_EQ(card.allocator.accounts().ledger().reserved, card.vmm.used());
    if (!happened) return;
  }
}

// Does not include a full card (then memory is taken back, which is visible) and a driver that
// fails permanently (undoing needs calls that succeed): tests below cover these.
TEST(FailingGrowthTest, FailedCallLeavesStateUnchanged) {
  FailEachCall(
      {absl::StatusCode::kInternal, CallFailures::Repeat::kOnce},
      [](Card& card) {
        return std::holds_alternative<DeviceAddress>(card.TryAllocate(43_MiB, kSide));
      },
      [](const Card& card, const Visible& before) { EXPECT_TRUE(Visible(card) == before); });
}

class FailingDriverTest : public ::testing::TestWithParam<FailureCase> {};

TEST_P(FailingDriverTest, BlocksInUseSurviveEveryDriverFailure) {
  FailEachCall(
      GetParam(),
      [](Card& card) {  // needs the cache, another stream's chunks and the waiting block
        return std::holds_alternative<DeviceAddress>(card.TryAllocate(84_MiB, kSide));
      },
      [](const Card& card, const Visible& before) {
        EXPECT_EQ(static_cast<int64_t>(card.allocator.accounts().ledger().live_allocated),
                  before.statistics.allocated_bytes.all.current);
      });
}

TEST_P(FailingDriverTest, FreeSucceedsAndAFailedEventIsRetried) {
  FailEachCall(
      GetParam(),
      [](Card& card) {
        const DeviceAddress block = card.allocator.Snapshot().front().address;
        EXPECT_TRUE(card.Share(block, 512, StreamId{7}).ok());
        EXPECT_TRUE(card.Free(block).ok());
        card.failures.StopFailing();
        EXPECT_THAT(card.Contents().front(), testing::HasSubstr("512B?"));
        EXPECT_TRUE(card.allocator.EmptyCache().ok());
        EXPECT_THAT(card.Contents().front(), testing::Not(testing::HasSubstr("512B")));
        return true;
      },
      [](const Card&, const Visible&) {});
}

TEST(FailingFreeTest, MemoryOfStreamsThatRejectEventsIsReused) {
  Card card(64_MiB);
  const DeviceAddress block = card.Allocate(64_MiB);
  EXPECT_TRUE(card.Share(block, 64_MiB, kSide).ok());
  card.failures.FailNth(DriverCall::kRecord, 1, CallFailures::Repeat::kFromThenOn,
                        absl::InvalidArgumentError("no such stream"));
  EXPECT_TRUE(card.Free(block).ok());
  EXPECT_EQ(card.Allocate(64_MiB), block);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(FailingAccessTest, ChunkWhoseUndoFailsIsUnmappedLater) {
  Card card(64_MiB);
  // memory info, reserve, create, map, release: the sixth call, which gives access, and all later
  // ones fail, so undoing also fails.
  card.failures.FailNthOfAny(6, CallFailures::Repeat::kFromThenOn, absl::InternalError("injected"));
  EXPECT_TRUE(std::holds_alternative<absl::Status>(card.TryAllocate(16_MiB)));
  EXPECT_EQ(card.vmm.live_mappings(), 1u);
  EXPECT_EQ(card.allocator.accounts().ledger().reserved, 0u);
  EXPECT_TRUE(std::holds_alternative<absl::Status>(card.TryAllocate(16_MiB)));
  card.failures.StopFailing();
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_EQ(card.vmm.live_mappings(), 0u);
  EXPECT_EQ(card.vmm.live_chunks(), 0u);
  card.Allocate(64_MiB);
}

TEST(FailingPoolTest, FailedReleaseOfAddressSpaceIsRetried) {
  Card card(64_MiB);
  card.allocator.pools().Retain({0, 1});
  ASSERT_TRUE(card.allocator.pools().BeginRouting({0, 1}, [](StreamId) { return true; }).ok());
  const DeviceAddress block = card.Allocate(8_MiB);
  ASSERT_TRUE(card.allocator.pools().EndRouting({0, 1}).ok());
  EXPECT_TRUE(card.Free(block).ok());
  card.failures.FailNth(DriverCall::kReleaseReservation, 1, CallFailures::Repeat::kFromThenOn,
                        absl::InternalError("injected"));
  EXPECT_TRUE(card.allocator.pools().Release({0, 1}).ok());
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_EQ(card.vmm.live_reservations(), 1u);
  card.failures.StopFailing();
  EXPECT_TRUE(card.allocator.EmptyCache().ok());
  EXPECT_EQ(card.vmm.live_reservations(), 0u);
  EXPECT_FALSE(card.allocator.pools().Uses({0, 1}).ok());
}

TEST_P(FailingDriverTest, FailedEmptyCacheCanBeRetried) {
  FailEachCall(
      GetParam(),
      [](Card& card) {
        const bool ok = card.allocator.EmptyCache().ok();
        EXPECT_TRUE(!ok || card.streams.live_events() == 0);
        return ok;
      },
      [](const Card&, const Visible&) {});
}

INSTANTIATE_TEST_SUITE_P(
    Errors, FailingDriverTest,
    ::testing::Values(
        FailureCase{absl::StatusCode::kInternal, CallFailures::Repeat::kOnce},
        FailureCase{absl::StatusCode::kInternal, CallFailures::Repeat::kFromThenOn},
        FailureCase{absl::StatusCode::kResourceExhausted, CallFailures::Repeat::kOnce},
        FailureCase{absl::StatusCode::kResourceExhausted, CallFailures::Repeat::kFromThenOn}),
    [](const auto& test) {
      return std::string(test.param.code == absl::StatusCode::kInternal ? "Internal"
                                                                        : "Exhausted") +
             (test.param.repeat == CallFailures::Repeat::kOnce ? "Once" : "FromThenOn");
    });

}  // namespace
}  // namespace memtrace
