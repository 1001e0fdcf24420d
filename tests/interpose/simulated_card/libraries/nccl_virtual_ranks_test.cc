// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// NCCL in a job of 8 ranks of which 0 and 3 are real (the environment as ctest sets it): one thread
// a real rank, each on a card of its own.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "interpose/simulated_card/interface/card_ranges.h"
#include "tests/interpose/simulated_card/libraries/nccl_buffer.h"

namespace {

using memtrace::card::Buffer;
using memtrace::card::Values;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kRanks = 8;

// Runs body(rank, communicator) in one thread for each real rank of a communicator of all ranks.
void OnRealRanks(const std::function<void(int, ncclComm_t)>& body) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const auto run = [&](int rank) {
    ASSERT_EQ(cudaSetDevice(rank == 0 ? 0 : 1), cudaSuccess);
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRank(&comm, kRanks, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
    body(rank, comm);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  };
  std::thread other(run, 3);
  run(0);
  other.join();
}

TEST(NcclVirtualRanksTest, VirtualRanksGiveWhatTheNearestRealRankGives) {
  OnRealRanks([](int rank, ncclComm_t comm) {
    const Buffer from({rank + 1});
    const Buffer sum({0});
    EXPECT_EQ(ncclAllReduce(from.get(), sum.get(), 1, ncclInt64, ncclSum, comm, nullptr),
              ncclSuccess);
    EXPECT_THAT(sum.Read(), ElementsAre(2 * 1 + 6 * 4));
    EXPECT_EQ(sum.Known(), MEMTRACE_CARD_ASSUMED);
    const Buffer all(Values(kRanks, 0));
    EXPECT_EQ(ncclAllGather(from.get(), all.get(), 1, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_THAT(all.Read(), ElementsAre(1, 1, 4, 4, 4, 4, 4, 4));
  });
}

TEST(NcclVirtualRanksTest, RealRootIsKnownAndAVirtualOneChangesNothing) {
  OnRealRanks([](int rank, ncclComm_t comm) {
    const Buffer buffer({rank});
    EXPECT_EQ(ncclBcast(buffer.get(), 1, ncclInt64, 3, comm, nullptr), ncclSuccess);
    EXPECT_THAT(buffer.Read(), ElementsAre(3));
    EXPECT_EQ(buffer.Known(), MEMTRACE_CARD_KNOWN);
    EXPECT_EQ(ncclBcast(buffer.get(), 1, ncclInt64, 5, comm, nullptr), ncclSuccess);
    EXPECT_THAT(buffer.Read(), ElementsAre(3));
    EXPECT_EQ(buffer.Known(), MEMTRACE_CARD_ASSUMED);
  });
}

TEST(NcclVirtualRanksTest, MessagesOfVirtualRanksAreUnknown) {
  OnRealRanks([](int rank, ncclComm_t comm) {
    const Buffer buffer({7});
    EXPECT_EQ(ncclSend(buffer.get(), 1, ncclInt64, 5, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclRecv(buffer.get(), 1, ncclInt64, 5, comm, nullptr), ncclSuccess);
    EXPECT_EQ(buffer.Known(), MEMTRACE_CARD_UNKNOWN);
    const Buffer told({rank == 0 ? 42 : 0});
    const ncclResult_t passed = rank == 0 ? ncclSend(told.get(), 1, ncclInt64, 3, comm, nullptr)
                                          : ncclRecv(told.get(), 1, ncclInt64, 0, comm, nullptr);
    EXPECT_EQ(passed, ncclSuccess);
    EXPECT_THAT(told.Read(), ElementsAre(42));
    EXPECT_EQ(told.Known(), MEMTRACE_CARD_KNOWN);
  });
}

TEST(NcclVirtualRanksTest, ExchangeOfAllWithAllIsFilledIn) {
  OnRealRanks([](int rank, ncclComm_t comm) {
    Values values;
    for (int peer = 0; peer < kRanks; ++peer) values.push_back(100 * rank + peer);
    const Buffer from(values);
    const Buffer to(Values(kRanks, -1));
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int peer = 0; peer < kRanks; ++peer) {
      EXPECT_EQ(ncclSend(from.get() + peer, 1, ncclInt64, peer, comm, nullptr), ncclSuccess);
      EXPECT_EQ(ncclRecv(to.get() + peer, 1, ncclInt64, peer, comm, nullptr), ncclSuccess);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    const int of_third = 300 + rank;
    EXPECT_THAT(to.Read(), ElementsAre(rank, rank, of_third, of_third, of_third, of_third, of_third,
                                       of_third));
    EXPECT_EQ(to.Known(), MEMTRACE_CARD_ASSUMED);
  });
}

// Makes a group of broadcasts from ranks 0 to `roots` - 1, each into its own element of `all`.
void BroadcastFromEach(int roots, const Buffer& from, const Buffer& all, ncclComm_t comm) {
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int root = 0; root < roots; ++root) {
    EXPECT_EQ(ncclBroadcast(from.get(), all.get() + root, 1, ncclInt64, root, comm, nullptr),
              ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
}

TEST(NcclVirtualRanksTest, BroadcastsFromAllRanksAreFilledInLikeAnAllGather) {
  OnRealRanks([](int rank, ncclComm_t comm) {
    const Buffer from({rank + 1});
    const Buffer all(Values(kRanks, -1));
    BroadcastFromEach(kRanks, from, all, comm);
    EXPECT_THAT(all.Read(), ElementsAre(1, 1, 4, 4, 4, 4, 4, 4));
    EXPECT_EQ(all.Known(), MEMTRACE_CARD_ASSUMED);
    // The broadcasts of some ranks are no gather, so nothing tells what a virtual rank would send.
    const Buffer some(Values(kRanks, -1));
    BroadcastFromEach(kRanks - 1, from, some, comm);
    EXPECT_THAT(some.Read(), ElementsAre(1, -1, -1, 4, -1, -1, -1, -1));
  });
}

// The machines have two cards, so that the job of eight has four; both real ranks are counted.
TEST(NcclVirtualRanksTest, VirtualRanksAreSentToLikeRealOnes) {
  const struct memtrace_card_activity before = memtrace::card::Activity();
  OnRealRanks([](int rank, ncclComm_t comm) {
    const Buffer from(Values(kRanks, 1));
    const Buffer to(Values(std::size_t{2} * kRanks, 0));
    EXPECT_EQ(ncclAllGather(from.get(), to.get(), 2, ncclInt64, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclAlltoAll(from.get(), to.get(), 1, ncclInt64, comm, nullptr), ncclSuccess);
    const int near = rank == 0 ? 1 : 2;
    EXPECT_EQ(ncclSend(from.get(), 3, ncclInt64, near, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclSend(from.get(), 5, ncclInt64, 7, comm, nullptr), ncclSuccess);
  });
  const struct memtrace_card_activity after = memtrace::card::Activity();
  EXPECT_EQ(after.sent_bytes - before.sent_bytes, 2u * (7 * 16 / 2 + 8 + 24));
  EXPECT_EQ(after.sent_bytes_network - before.sent_bytes_network, 2u * (7 * 16 / 2 + 6 * 8 + 40));
  EXPECT_EQ(after.sends - before.sends, 4u);
}

TEST(NcclVirtualRanksTest, LargeContentsAreUnknown) {
  OnRealRanks([](int, ncclComm_t comm) {
    constexpr std::size_t kTooMany = (std::size_t{16} << 20) / kRanks / sizeof(std::int64_t) + 1;
    const Buffer buffer(Values(kTooMany, 1));
    EXPECT_EQ(
        ncclAllReduce(buffer.get(), buffer.get(), kTooMany, ncclInt64, ncclSum, comm, nullptr),
        ncclSuccess);
    EXPECT_EQ(buffer.Known(), MEMTRACE_CARD_UNKNOWN);
  });
}

TEST(NcclVirtualRanksTest, UnknownCommunicatorsAndSplitsAreRefused) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t made = nullptr;
  EXPECT_EQ(ncclCommInitRank(&made, 4, id, 0), ncclInvalidUsage);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("a communicator of 4 ranks was not made by"));
  OnRealRanks([](int rank, ncclComm_t comm) {
    ncclComm_t part = nullptr;
    EXPECT_EQ(ncclCommSplit(comm, 0, rank, &part, nullptr), ncclInvalidUsage);
  });
}

TEST(NcclVirtualRanksTest, RankThatIsRealAloneWaitsForNobody) {
  ncclUniqueId id = {};
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.netName = "memtrace-ranks:4:2";
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 4, id, 2, &config), ncclSuccess);
  const Buffer from({5});
  const Buffer to(Values(4, 0));
  EXPECT_EQ(ncclAllGather(from.get(), to.get(), 1, ncclInt64, comm, nullptr), ncclSuccess);
  EXPECT_THAT(to.Read(), Each(5));
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

}  // namespace
