// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/nccl_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "interpose/simulated_card/collectives/communicator_shape.h"

namespace memtrace::card {
namespace {

using nlohmann::json;

constexpr double kMiB = 1 << 20;
// NCCL's kernels and the side streams of torch, once in a process, with the library that was built
// for the recording.
constexpr double kFirst = 82 * kMiB;

double BytesOfAll(const NcclPieceList& pieces) { return static_cast<double>(BytesOf(pieces)); }

// The lines of tests/gpu/recordings/h100-80gb/nccl_ranks.jsonl that have figures.
std::vector<json> Recorded() {
  std::ifstream file(MEMTRACE_NCCL_RECORDING);
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) {
    json row = json::parse(line);
    if (row.contains("bytes of a rank")) rows.push_back(std::move(row));
  }
  return rows;
}

// The ranks of the recording shared one card, to which no path is slow.
CommunicatorShape ShapeIn(const json& row, int ranks, int rank) {
  const auto number = [&](const char* name, int otherwise) {
    return row["options"].contains(name) ? std::stoi(row["options"][name].get<std::string>())
                                         : otherwise;
  };
  NcclOptions options;
  options.has_own_pieces = number("NCCL_CUMEM_ENABLE", 1) != 0;
  options.connects_on_use = number("NCCL_RUNTIME_CONNECT", 1) != 0;
  options.simple_buffer = static_cast<std::uint64_t>(number("NCCL_BUFFSIZE", 4 << 20));
  options.uses_switch = false;
  const json& channels = row["log"]["channels"].front();
  CommunicatorShape shape = {
      .version = 23007, .place = PlaceInOneMachine(ranks, rank), .options = options};
  shape.collective_channels = channels[0];
  shape.peer_channels = channels[3];
  shape.channels_per_peer = channels[4];
  shape.has_peers = true;
  shape.reads = number("NCCL_P2P_READ_ENABLE", 0) != 0;
  shape.is_fast = true;
  shape.is_early = !options.has_own_pieces || !options.connects_on_use;
  return shape;
}

// The mean of all ranks, as the recording has it.
template <typename Pieces>
double OfARank(const json& row, int ranks, Pieces pieces) {
  double bytes = 0;
  for (int rank = 0; rank < ranks; ++rank) bytes += BytesOfAll(pieces(ShapeIn(row, ranks, rank)));
  return bytes / ranks;
}

double Start(const CommunicatorShape& shape) {
  return BytesOfAll(PiecesAtStart(shape)) +
         (shape.is_early ? BytesOfAll(PiecesOfEarlyConnections(shape)) : 0);
}

std::string NameOf(const json& row) { return row["world"].dump() + " " + row["options"].dump(); }

TEST(NcclMemoryTest, CommunicatorsOfRealRanksAreMetWhenTheyAreMade) {
  const std::vector<json> rows = Recorded();
  ASSERT_GE(rows.size(), 20u);
  for (const json& row : rows) {
    const int ranks = row["world"];
    double expected = kFirst;
    // Without cuMem small allocations share granules, so that all of them take one.
    const bool shares = row["options"].value("NCCL_CUMEM_ENABLE", "1") == "0";
    for (int rank = 0; rank < ranks; ++rank) {
      const CommunicatorShape shape = ShapeIn(row, ranks, rank);
      expected +=
          (shares ? 2 * kMiB + BytesOfAll(PiecesOfEarlyConnections(shape)) : Start(shape)) / ranks;
    }
    const double found = row["bytes of a rank"]["made"];
    EXPECT_NEAR(found, expected, 0.26 * kMiB) << NameOf(row);
  }
}

TEST(NcclMemoryTest, FirstUseOfARingIsMet) {
  for (const json& row : Recorded()) {
    const int ranks = row["world"];
    const double expected = OfARank(row, ranks, [](const CommunicatorShape& shape) {
      return shape.is_early ? NcclPieceList() : PiecesOf(NcclWay::kRing, shape);
    });
    const double found = row["bytes of a rank"]["all_reduce of 1 KiB"];
    EXPECT_NEAR(found, expected, 0.26 * kMiB) << NameOf(row);
  }
}

TEST(NcclMemoryTest, FirstExchangeWithAllPeersIsMet) {
  for (const json& row : Recorded()) {
    const int ranks = row["world"];
    const double expected = (ranks - 1) * OfARank(row, ranks, [](const CommunicatorShape& shape) {
                              return PiecesOf(NcclWay::kPeer, shape);
                            });
    const double found = row["bytes of a rank"]["all_to_all"];
    EXPECT_NEAR(found, expected, 0.26 * kMiB) << NameOf(row);
  }
}

// Figures that others published: docs/design/nccl-memory.md names them.
TEST(NcclMemoryTest, PublishedFiguresAreMet) {
  const Neighbours a100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 80};
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  NcclOptions without_pieces;
  without_pieces.has_own_pieces = false;
  // nccl#964: 544 MB a group of two, 688 MB at an end of a longer chain.
  const auto connections = [&](int ranks, int rank) {
    return BytesOfAll(PiecesOfEarlyConnections(
               ShapeOf(a100, without_pieces, 22100, PlaceInOneMachine(ranks, rank)))) /
           kMiB;
  };
  EXPECT_EQ(connections(2, 0), 544);
  EXPECT_EQ(connections(4, 0), 688);
  EXPECT_EQ(connections(4, 3), 688);
  // vllm#9699's formula for 2.21: 1,152 MiB of NVLS for 8 heads.
  const CommunicatorShape old = ShapeOf(h100, {}, 22105, PlaceInOneMachine(8, 0));
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kSwitch, old)) / kMiB, 1152);
  // nccl#2363: a pool of 512 MiB for a single rank.
  const CommunicatorShape single = ShapeOf(h100, without_pieces, 22809, PlaceInOneMachine(1, 0));
  EXPECT_EQ(BytesOfAll(PiecesOfEarlyConnections(single)) / kMiB, 512);
}

TEST(NcclMemoryTest, EightCardsWithASwitchTakeWhatTheRuleSays) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  const CommunicatorShape shape = ShapeOf(h100, {}, 22809, PlaceInOneMachine(8, 3));
  EXPECT_EQ(BytesOfAll(PiecesAtStart(shape)) / kMiB, 230);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kRing, shape)) / kMiB, 288);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kTree, shape)) / kMiB, 288);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kSwitch, shape)) / kMiB, 256);
  EXPECT_EQ(7 * BytesOfAll(PiecesOf(NcclWay::kPeer, shape)) / kMiB, 2688);
}

TEST(NcclMemoryTest, CardsThatMeetInTheHostTakeOnlyTheStart) {
  const CommunicatorShape shape = ShapeOf({}, {}, 22809, PlaceInOneMachine(2, 0));
  EXPECT_EQ(BytesOfAll(PiecesAtStart(shape)) / kMiB, 28);
  for (const NcclWay way : {NcclWay::kRing, NcclWay::kTree, NcclWay::kSwitch, NcclWay::kPeer})
    EXPECT_EQ(BytesOf(PiecesOf(way, shape)), 0u);
}

TEST(NcclMemoryTest, LargeSumsUseTheSwitchOrElseATree) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  NcclOptions options;
  EXPECT_EQ(WayOf("ncclAllReduce", 1024, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
            NcclWay::kRing);
  EXPECT_EQ(
      WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
      NcclWay::kSwitch);
  EXPECT_EQ(
      WayOf("ncclAllGather", 32 << 20, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
      NcclWay::kRing);
  options.algorithms = "ring";
  EXPECT_EQ(
      WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
      NcclWay::kRing);
  options = {};
  options.uses_switch = false;
  EXPECT_EQ(WayOf("ncclAllReduce", 4 << 20, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
            NcclWay::kTree);
  EXPECT_EQ(
      WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0))),
      NcclWay::kRing);
}

// 8 machines of 8 H100, each with a network adapter: the figures that the notes of NCCL's source
// give for rings, trees, the switch with its tree over machines, and the pools for sends.
TEST(NcclMemoryTest, SeveralMachinesTakeBuffersForTheNetwork) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  const RankPlace place = {.ranks = 64, .machines = 8, .ranks_here = 8, .place = 3};
  const CommunicatorShape shape = ShapeOf(h100, {}, 22809, place);
  EXPECT_EQ(shape.collective_channels, 16);
  EXPECT_EQ(BytesOfAll(PiecesAtStart(shape)) / kMiB, 134);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kRing, shape)) / kMiB, 14 * 12 + 2 * 20);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kTree, shape)) / kMiB, 16 * 12 + 4 * 20);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kSwitch, shape)) / kMiB, 256 + 28 * 20);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kNetworkPool, shape)) / kMiB, 32 + 32);
  EXPECT_EQ(BytesOf(PiecesOf(NcclWay::kNetworkPeer, shape)), 0u);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kPeer, shape)) / kMiB, 12) << "one channel a peer";
  EXPECT_EQ(HostBytesOf(PiecesOf(NcclWay::kRing, shape)), 2u * (524288 + 8192 + 8192));
}

TEST(NcclMemoryTest, RingOfAllCardsCrossesAMachineOnceInAChannel) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  for (const int ranks : {1, 2, 3, 5, 8}) {
    double bytes = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const RankPlace place = {
          .ranks = 2 * ranks, .machines = 2, .ranks_here = ranks, .place = rank};
      bytes += BytesOfAll(PiecesOf(NcclWay::kRing, ShapeOf(h100, {}, 22809, place)));
    }
    const int channels = std::min(16, 4 * ranks);
    EXPECT_EQ(bytes / kMiB, channels * ((ranks - 1) * 12 + 20)) << ranks;
  }
}

// A public report (docs/design/nccl-memory.md): each connection of four machines without access of
// the network to the card's memory was mmap(9641984); buffers of 1 MiB made it 3 MiB less.
TEST(NcclMemoryTest, NetworkWithoutTheCardsMemoryPinsWhatWasPublished) {
  const RankPlace place = {.ranks = 4, .machines = 4, .ranks_here = 1, .place = 0};
  NcclOptions options;
  const CommunicatorShape shape = ShapeOf({}, options, 22809, place);
  const std::uint64_t connections = 2 * static_cast<std::uint64_t>(shape.collective_channels);
  EXPECT_EQ(HostBytesOf(PiecesOf(NcclWay::kRing, shape)), connections * 9641984);
  EXPECT_EQ(BytesOf(PiecesOf(NcclWay::kRing, shape)), 0u);
  options.simple_buffer = 1 << 20;
  const CommunicatorShape smaller = ShapeOf({}, options, 22809, place);
  EXPECT_EQ(HostBytesOf(PiecesOf(NcclWay::kRing, smaller)), connections * (9641984 - (3 << 20)));
}

TEST(NcclMemoryTest, CardsThatMeetInTheHostPinItsMemory) {
  const CommunicatorShape shape = ShapeOf({}, {}, 22809, PlaceInOneMachine(2, 0));
  EXPECT_EQ(HostBytesOf(PiecesAtStart(shape)), (1u << 20) + (128u << 10));
  EXPECT_EQ(HostBytesOf(PiecesOf(NcclWay::kRing, shape)), 48u << 20);
  const CommunicatorShape old = ShapeOf({}, {}, 22105, PlaceInOneMachine(2, 0));
  EXPECT_EQ(HostBytesOf(PiecesAtStart(old)), 32u << 20);
  EXPECT_EQ(HostBytesOf(PiecesOf(NcclWay::kRing, old)), 4u * (2 * 4096 + 9633792));
}

// nccl#1234 and vllm#5517: graphs took 3.81 GiB, which is what 30 graphs of 65 calls take.
TEST(NcclMemoryTest, CapturedLaunchesTakeMemoryOnlyBefore222) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  const CommunicatorShape old = ShapeOf(h100, {}, 22005, PlaceInOneMachine(2, 0));
  EXPECT_EQ(30 * 65 * BytesOfAll(PiecesOfCapturedLaunch(old)) / kMiB, 3900);
  const CommunicatorShape now = ShapeOf(h100, {}, 22809, PlaceInOneMachine(2, 0));
  EXPECT_EQ(BytesOf(PiecesOfCapturedLaunch(now)), 0u);
}

// Logs of real jobs over a network: nccl#1189 (2 machines of 2 H20), nccl#1453 (3 of 8 H100),
// nccl-tests#350 (2 of one card).
TEST(CommunicatorShapeTest, ChannelsOverANetworkAreThoseOfPublicLogs) {
  const Neighbours hopper = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  const Neighbours a100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 80};
  const RankPlace of_four = {.ranks = 4, .machines = 2, .ranks_here = 2, .place = 0};
  const CommunicatorShape four = ShapeOf(hopper, {}, 22000, of_four);
  EXPECT_EQ(four.collective_channels, 8);
  EXPECT_EQ(four.peer_channels, 8);
  EXPECT_EQ(four.channels_per_peer, 2);
  const RankPlace of_24 = {.ranks = 24, .machines = 3, .ranks_here = 8, .place = 0};
  EXPECT_EQ(ShapeOf(hopper, {}, 22000, of_24).collective_channels, 16);
  const RankPlace of_two = {.ranks = 2, .machines = 2, .ranks_here = 1, .place = 0};
  const CommunicatorShape two = ShapeOf(a100, {}, 21700, of_two);
  EXPECT_EQ(two.collective_channels, 2);
  EXPECT_EQ(two.channels_per_peer, 2);
}

TEST(CommunicatorShapeTest, OptionsBoundTheChannels) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  NcclOptions options;
  options.most_channels = 8;
  options.fewest_peer_channels = 32;
  const CommunicatorShape shape = ShapeOf(h100, options, 22809, PlaceInOneMachine(8, 0));
  EXPECT_EQ(shape.collective_channels, 8);
  EXPECT_EQ(shape.peer_channels, 32);
  options = {};
  options.most_channels = 2;
  EXPECT_EQ(
      BytesOfAll(PiecesAtStart(ShapeOf(h100, options, 22809, PlaceInOneMachine(1, 0)))) / kMiB, 16);
}

}  // namespace
}  // namespace memtrace::card
