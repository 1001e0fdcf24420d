// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/nccl_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  CommunicatorShape shape = {.version = 23007, .ranks = ranks, .rank = rank, .options = options};
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
    return BytesOfAll(PiecesOfEarlyConnections(ShapeOf(a100, without_pieces, 22100, ranks, rank))) /
           kMiB;
  };
  EXPECT_EQ(connections(2, 0), 544);
  EXPECT_EQ(connections(4, 0), 688);
  EXPECT_EQ(connections(4, 3), 688);
  // vllm#9699's formula for 2.21: 1,152 MiB of NVLS for 8 heads.
  const CommunicatorShape old = ShapeOf(h100, {}, 22105, 8, 0);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kSwitch, old)) / kMiB, 1152);
  // nccl#2363: a pool of 512 MiB for a single rank.
  const CommunicatorShape single = ShapeOf(h100, without_pieces, 22809, 1, 0);
  EXPECT_EQ(BytesOfAll(PiecesOfEarlyConnections(single)) / kMiB, 512);
}

TEST(NcclMemoryTest, EightCardsWithASwitchTakeWhatTheRuleSays) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  const CommunicatorShape shape = ShapeOf(h100, {}, 22809, 8, 3);
  EXPECT_EQ(BytesOfAll(PiecesAtStart(shape)) / kMiB, 230);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kRing, shape)) / kMiB, 288);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kTree, shape)) / kMiB, 288);
  EXPECT_EQ(BytesOfAll(PiecesOf(NcclWay::kSwitch, shape)) / kMiB, 256);
  EXPECT_EQ(7 * BytesOfAll(PiecesOf(NcclWay::kPeer, shape)) / kMiB, 2688);
}

TEST(NcclMemoryTest, CardsThatMeetInTheHostTakeOnlyTheStart) {
  const CommunicatorShape shape = ShapeOf({}, {}, 22809, 2, 0);
  EXPECT_EQ(BytesOfAll(PiecesAtStart(shape)) / kMiB, 28);
  for (const NcclWay way : {NcclWay::kRing, NcclWay::kTree, NcclWay::kSwitch, NcclWay::kPeer})
    EXPECT_EQ(BytesOf(PiecesOf(way, shape)), 0u);
}

TEST(NcclMemoryTest, LargeSumsUseTheSwitchOrElseATree) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  NcclOptions options;
  EXPECT_EQ(WayOf("ncclAllReduce", 1024, ShapeOf(h100, options, 22809, 8, 0)), NcclWay::kRing);
  EXPECT_EQ(WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, 8, 0)),
            NcclWay::kSwitch);
  EXPECT_EQ(WayOf("ncclAllGather", 32 << 20, ShapeOf(h100, options, 22809, 8, 0)), NcclWay::kRing);
  options.algorithms = "ring";
  EXPECT_EQ(WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, 8, 0)), NcclWay::kRing);
  options = {};
  options.uses_switch = false;
  EXPECT_EQ(WayOf("ncclAllReduce", 4 << 20, ShapeOf(h100, options, 22809, 8, 0)), NcclWay::kTree);
  EXPECT_EQ(WayOf("ncclAllReduce", 32 << 20, ShapeOf(h100, options, 22809, 8, 0)), NcclWay::kRing);
}

TEST(CommunicatorShapeTest, OptionsBoundTheChannels) {
  const Neighbours h100 = {.link = CardLink::kNvlink, .channels = 24, .compute_capability = 90};
  NcclOptions options;
  options.most_channels = 8;
  options.fewest_peer_channels = 32;
  const CommunicatorShape shape = ShapeOf(h100, options, 22809, 8, 0);
  EXPECT_EQ(shape.collective_channels, 8);
  EXPECT_EQ(shape.peer_channels, 32);
  options = {};
  options.most_channels = 2;
  EXPECT_EQ(BytesOfAll(PiecesAtStart(ShapeOf(h100, options, 22809, 1, 0))) / kMiB, 16);
}

}  // namespace
}  // namespace memtrace::card
