// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/graph_turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using testing::IsEmpty;

constexpr PoolId kFirst{0, 1};
constexpr PoolId kSecond{0, 2};
constexpr PoolId kThird{0, 3};
constexpr Bytes kOutput = 4_MiB;

// A graph that was captured: where its intermediate values and its output are.
struct Graph {
  AddressRange intermediates;
  AddressRange output;
};

// A card on which graphs are captured and replayed.
class GraphCard : public Card {
 public:
  using Card::Card;

  // The output comes first, so that the free memory after it is in one piece.
  Graph Capture(const PoolId& pool, Bytes intermediates, Bytes output = kOutput) {
    pools().Retain(pool);
    EXPECT_TRUE(pools().BeginRouting(pool, [](StreamId) { return true; }).ok());
    const DeviceAddress kept = Allocate(output);
    const DeviceAddress freed = Allocate(intermediates);
    EXPECT_TRUE(Free(freed).ok());
    EXPECT_TRUE(pools().EndRouting(pool).ok());
    streams.Finish(kMain);
    return {AddressRange::Of(freed, intermediates), AddressRange::Of(kept, output)};
  }
  void Replay(const Graph& graph, StreamId stream = kMain) {
    for (const AddressRange& range : {graph.intermediates, graph.output})
      Use(range.begin, range.size(), stream);
  }
  absl::Status TryShare(const std::vector<PoolId>& ids) {
    shared = {};
    absl::Status status = allocator.movement().graph_turns().Share(ids, shared);
    allocator.CheckInvariants();
    return status;
  }
  Bytes Share(const std::vector<PoolId>& ids) {
    EXPECT_TRUE(TryShare(ids).ok());
    EXPECT_FALSE(shared.is_lost);
    return shared.saved;
  }
  bool HasLostMemory(const PoolId& pool) {
    return allocator.movement().graph_turns().ObstacleOf(pool).has_lost_memory;
  }
  void Release(const PoolId& pool) { EXPECT_TRUE(pools().Release(pool).ok()); }
  void EmptyCache() {
    EXPECT_TRUE(allocator.EmptyCache().ok());
    allocator.CheckInvariants();
  }
  PrivatePools& pools() { return allocator.pools(); }
  Bytes Reserved() { return allocator.accounts().ledger().reserved; }

  TakingTurns::Shared shared;
};

TEST(GraphTurnsTest, PoolsKeepOneCopyOfTheirIntermediates) {
  GraphCard card(2_GiB);
  const Graph first = card.Capture(kFirst, 256_MiB);
  const Graph second = card.Capture(kSecond, 192_MiB);
  const Graph third = card.Capture(kThird, 64_MiB);
  const Bytes before = card.vmm.used();
  const Bytes saved = card.Share({kFirst, kSecond, kThird});
  EXPECT_GE(saved, 192_MiB + 64_MiB - 3 * 32_MiB);
  EXPECT_EQ(card.vmm.used(), before - saved);
  EXPECT_EQ(card.Reserved(), card.vmm.used());
  for (const Graph& graph : {first, second, third}) card.Replay(graph);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(GraphTurnsTest, OutputsAreNotShared) {
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 64_MiB, 40_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB, 40_MiB);
  card.Share({kFirst, kSecond});
  const auto handle_of = [&](DeviceAddress address) { return card.vmm.Retain(address).value(); };
  EXPECT_NE(handle_of(first.output.begin), handle_of(second.output.begin));
  EXPECT_NE(handle_of(first.output.end - 1), handle_of(second.output.end - 1));
  const DeviceAddress middle = first.intermediates.begin + 32_MiB;
  const DeviceAddress same = second.intermediates.begin + 32_MiB;
  EXPECT_EQ(handle_of(middle), handle_of(same));
}

TEST(GraphTurnsTest, SharedMemoryServesNoLaterRequest) {
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 64_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB);
  const Bytes saved = card.Share({kFirst, kSecond});
  ASSERT_GT(saved, Bytes{0});
  for (const auto& [pool, old] : {std::pair(kFirst, first), std::pair(kSecond, second)}) {
    const Graph later = card.Capture(pool, 64_MiB);
    EXPECT_FALSE(later.output.Overlaps({old.intermediates.begin + 32_MiB, old.intermediates.end}));
    card.Replay(old);
    card.Replay(later);
  }
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(GraphTurnsTest, PoolThatLendsLeavesItsMemoryToAnother) {
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 128_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB);
  const Graph third = card.Capture(kThird, 64_MiB);
  card.Share({kFirst, kSecond, kThird});
  card.Replay(first);
  card.Free(first.output.begin).IgnoreError();
  card.Release(kFirst);
  card.EmptyCache();  // waits for the replay
  EXPECT_EQ(card.Reserved(), card.vmm.used());
  EXPECT_LE(card.vmm.used(), 64_MiB + 2 * kOutput + 3 * 32_MiB);
  card.Replay(second);
  card.Replay(third);
  for (const auto& [pool, graph] : {std::pair(kSecond, second), std::pair(kThird, third)}) {
    card.Free(graph.output.begin).IgnoreError();
    card.Release(pool);
  }
  card.EmptyCache();
  EXPECT_EQ(card.vmm.used(), Bytes{0});
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(GraphTurnsTest, PoolThatBorrowsEndsAlone) {
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 128_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB);
  card.Share({kFirst, kSecond});
  card.Replay(second, kSide);
  card.Free(second.output.begin).IgnoreError();
  card.Release(kSecond);
  card.EmptyCache();
  card.Replay(first);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
  // The memory is only the first pool's again, and serves its captures.
  const Graph again = card.Capture(kFirst, 128_MiB);
  EXPECT_TRUE(first.intermediates.Contains(again.output));
}

TEST(GraphTurnsTest, RequestThatLacksMemoryGetsThatOfEndedPools) {
  GraphCard card(512_MiB);
  const Graph first = card.Capture(kFirst, 256_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB);
  card.Share({kFirst, kSecond});
  for (const auto& [pool, graph] : {std::pair(kFirst, first), std::pair(kSecond, second)}) {
    card.Free(graph.output.begin).IgnoreError();
    card.Release(pool);
  }
  card.Allocate(500_MiB);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

TEST(GraphTurnsTest, SecondCallSharesWhatHasComeSince) {
  GraphCard card(2_GiB);
  card.Capture(kFirst, 64_MiB);
  card.Capture(kSecond, 64_MiB);
  card.Share({kFirst, kSecond});
  EXPECT_EQ(card.Share({kFirst, kSecond}), Bytes{0});
  card.Capture(kFirst, 128_MiB);
  card.Capture(kSecond, 128_MiB);
  EXPECT_GE(card.Share({kFirst, kSecond}), 64_MiB);
}

TEST(GraphTurnsTest, RefusedWithOnePoolOrInACapture) {
  GraphCard card(1_GiB);
  card.Capture(kFirst, 64_MiB);
  EXPECT_TRUE(absl::IsNotFound(card.TryShare({kFirst, kFirst, kSecond})));
  card.Capture(kSecond, 64_MiB);
  card.streams.BeginCapture(kMain);
  EXPECT_TRUE(absl::IsUnavailable(card.TryShare({kFirst, kSecond})));
  card.streams.EndCapture(kMain);
  EXPECT_GT(card.Share({kFirst, kSecond}), Bytes{0});
}

TEST(GraphTurnsTest, WorkOfTheLastReplayIsWaitedFor) {
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 64_MiB);
  const Graph second = card.Capture(kSecond, 64_MiB);
  card.Replay(first, kSide);
  card.Replay(second, kSide);
  card.Share({kFirst, kSecond});
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
}

// Calls the sharing with its nth driver call failing. Returns false if it makes fewer calls.
bool ShareWithFailure(uint64_t nth, CallFailures::Repeat repeat) {
  SCOPED_TRACE(nth);
  GraphCard card(1_GiB);
  const Graph first = card.Capture(kFirst, 128_MiB);
  const Graph second = card.Capture(kSecond, 96_MiB);
  const uint64_t failed = card.failures.failed();
  card.failures.FailNthOfAny(nth, repeat, absl::InternalError("injected"));
  card.TryShare({kFirst, kSecond}).IgnoreError();
  card.failures.StopFailing();
  EXPECT_FALSE(card.HasLostMemory(kFirst));
  if (repeat == CallFailures::Repeat::kOnce) {
    EXPECT_FALSE(card.HasLostMemory(kSecond));
  }
  card.Replay(first);
  if (!card.HasLostMemory(kSecond)) card.Replay(second);
  EXPECT_EQ(card.HasLostMemory(kSecond), card.shared.is_lost);
  EXPECT_THAT(card.vmm.faults(), IsEmpty());
  for (const auto& [pool, graph] : {std::pair(kFirst, first), std::pair(kSecond, second)}) {
    card.Free(graph.output.begin).IgnoreError();
    card.Release(pool);
  }
  card.EmptyCache();
  // A driver that refuses everything also keeps handles.
  if (repeat == CallFailures::Repeat::kOnce) {
    EXPECT_EQ(card.vmm.used(), Bytes{0});
  }
  return card.failures.failed() > failed;
}

TEST(GraphTurnsTest, AnyFailingCallLeavesGraphsUsableOrSaysThatTheyAreNot) {
  for (const auto repeat : {CallFailures::Repeat::kOnce, CallFailures::Repeat::kFromThenOn}) {
    uint64_t nth = 1;
    while (ShareWithFailure(nth, repeat)) ++nth;
    EXPECT_GT(nth, uint64_t{10});
  }
}

}  // namespace
}  // namespace memtrace
