// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What ranks send by the factors of nccl-tests: 2 (n - 1) / n of a sum's buffer, (n - 1) / n of the
// whole buffer of a gather, and so on.
#include "interpose/simulated_card/collectives/sent_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string_view>
#include <vector>

namespace memtrace::card {

bool operator==(const SentBytes& a, const SentBytes& b) {
  return a.within == b.within && a.network == b.network && a.sends == b.sends;
}

std::ostream& operator<<(std::ostream& out, const SentBytes& sent) {
  return out << sent.within << " within, " << sent.network << " over the network, " << sent.sends
             << " sends";
}

namespace {

// `count` machines with `ranks` ranks each.
RankMachines Machines(int count, int ranks) {
  std::vector<int> machines(static_cast<std::size_t>(count) * static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < count * ranks; ++rank)
    machines[static_cast<std::size_t>(rank)] = rank / ranks;
  return RankMachines(machines);
}

SentBytes Sent(std::string_view name, std::uint64_t size, const RankMachines& machines,
               int rank = 0, int peer = 0) {
  return SentBy({.name = name, .size = size, .rank = rank, .peer = peer}, machines);
}

SentBytes Total(std::string_view name, std::uint64_t size, const RankMachines& machines, int root) {
  SentBytes total;
  for (int rank = 0; rank < machines.ranks(); ++rank) {
    const SentBytes sent = Sent(name, size, machines, rank, root);
    total.within += sent.within;
    total.network += sent.network;
    total.sends += sent.sends;
  }
  return total;
}

constexpr std::string_view kAll[] = {
    "ncclAllReduce", "ncclReduce", "ncclBroadcast", "ncclAllGather", "ncclReduceScatter",
    "ncclAlltoAll",  "ncclGather", "ncclScatter",   "ncclSend",      "ncclRecv"};

TEST(SentBytesTest, RingsOfOneMachineSendTheBusBandwidthFactors) {
  const RankMachines eight = Machines(1, 8);
  EXPECT_EQ(Sent("ncclAllReduce", 800, eight), (SentBytes{.within = 1400}));
  EXPECT_EQ(Sent("ncclAllGather", 100, eight), (SentBytes{.within = 700}));
  EXPECT_EQ(Sent("ncclReduceScatter", 100, eight), (SentBytes{.within = 700}));
  EXPECT_EQ(Sent("ncclAllReduce", 1000, Machines(1, 3)), (SentBytes{.within = 1333}));
}

TEST(SentBytesTest, EachRankOfAMachineHasAShareOfTheNetwork) {
  const RankMachines two = Machines(2, 8);
  EXPECT_EQ(Sent("ncclAllGather", 800, two, 3), (SentBytes{.within = 10500, .network = 1500}));
  EXPECT_EQ(Sent("ncclAllReduce", 1600, two), (SentBytes{.within = 2625, .network = 375}));
  EXPECT_EQ(Sent("ncclAllReduce", 1600, Machines(16, 1)), (SentBytes{.network = 3000}));
}

TEST(SentBytesTest, RingCrossesEachMachineOnce) {
  const RankMachines uneven({0, 0, 0, 1, 2, 2});
  const SentBytes total = Total("ncclAllGather", 600, uneven, 0);
  const std::uint64_t of_a_rank = 3000;  // 5 x 600
  EXPECT_EQ(total.network, 3 * of_a_rank) << "one of three machines' ranks each";
  EXPECT_EQ(total.within + total.network, 6 * of_a_rank);
}

TEST(SentBytesTest, ChainsSendOnceLessThanThereAreRanks) {
  const RankMachines eight = Machines(1, 8);
  EXPECT_EQ(Total("ncclBroadcast", 100, eight, 3), (SentBytes{.within = 700}));
  EXPECT_EQ(Total("ncclReduce", 100, eight, 3), (SentBytes{.within = 700}));
  EXPECT_EQ(Sent("ncclBroadcast", 100, eight, 2, 3), SentBytes()) << "the last of the chain";
  EXPECT_EQ(Sent("ncclBroadcast", 100, eight, 3, 3), (SentBytes{.within = 100})) << "the root";
  EXPECT_EQ(Sent("ncclReduce", 100, eight, 3, 3), SentBytes()) << "the root";
}

TEST(SentBytesTest, PairsSendToEachOtherRank) {
  const RankMachines two = Machines(2, 4);
  EXPECT_EQ(Sent("ncclAlltoAll", 100, two, 5), (SentBytes{.within = 300, .network = 400}));
  EXPECT_EQ(Sent("ncclScatter", 100, two, 1, 1), (SentBytes{.within = 300, .network = 400}));
  EXPECT_EQ(Sent("ncclScatter", 100, two, 0, 1), SentBytes());
  EXPECT_EQ(Total("ncclGather", 100, two, 0), (SentBytes{.within = 300, .network = 400}));
}

TEST(SentBytesTest, SendsAreCounted) {
  const RankMachines two = Machines(2, 4);
  EXPECT_EQ(Sent("ncclSend", 100, two, 0, 3), (SentBytes{.within = 100, .sends = 1}));
  EXPECT_EQ(Sent("ncclSend", 100, two, 0, 4), (SentBytes{.network = 100, .sends = 1}));
  EXPECT_EQ(Sent("ncclSend", 100, two, 2, 2), SentBytes()) << "to itself";
  EXPECT_EQ(Sent("ncclRecv", 100, two, 0, 3), SentBytes());
}

TEST(SentBytesTest, SingleRankSendsNothing) {
  for (const std::string_view name : kAll)
    EXPECT_EQ(Sent(name, 100, Machines(1, 1)), SentBytes()) << name;
}

TEST(SentBytesTest, LargeCallsDoNotOverflow) {
  constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40;
  const SentBytes sent = Sent("ncclAllReduce", kTebibyte, Machines(1024, 8));
  EXPECT_EQ(sent.within + sent.network, 2 * (kTebibyte - kTebibyte / 8192));
}

}  // namespace
}  // namespace memtrace::card
