// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/nccl_memory.h"

#include <algorithm>

#include "base/units.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGranule = 2 * kMiB;
constexpr std::uint64_t kHead = 4096;          // before a connection's buffers
constexpr std::uint64_t kDeviceState = 23648;  // the communicator's own, as NCCL 2.30 logs it
constexpr std::uint64_t kPeerState = 608;      // a channel's, for each rank; likewise
constexpr std::uint64_t kPointer = 8;
constexpr std::uint64_t kIndex = 4;
constexpr std::uint64_t kStepsInFlight = 16;
constexpr std::uint64_t kNvlinkChunk = kMiB / 2;
constexpr std::uint64_t kOtherChunk = kMiB / 8;
constexpr int kVersion222 = 22200;
constexpr int kVersion223 = 22304;

std::uint64_t Number(int number) { return static_cast<std::uint64_t>(number); }

std::uint64_t SendBytes(const CommunicatorShape& shape) {
  return RoundUp(kHead + (shape.reads ? shape.options.simple_buffer : 0), kGranule);
}

std::uint64_t ReceiveBytes(const CommunicatorShape& shape) {
  const NcclOptions& options = shape.options;
  return RoundUp(kHead + options.low_latency_buffer + options.low_latency_128_buffer +
                     (shape.reads ? 0 : options.simple_buffer),
                 kGranule);
}

// A ring receives from the rank before and sends to the rank after. In the chain of a tree, which
// is taken to follow the ring, a rank also sends to the one before and receives from the one after.
NcclPieceList Tree(const CommunicatorShape& shape) {
  NcclPieceList pieces;
  if (shape.ranks <= 2) return pieces;  // the ring has these connections
  const std::uint64_t channels = Number(shape.collective_channels);
  const bool is_first = shape.rank == 0;
  const bool is_last = shape.rank == shape.ranks - 1;
  if (!is_first) pieces.push_back({.bytes = SendBytes(shape), .count = channels});
  if (!is_last) pieces.push_back({.bytes = ReceiveBytes(shape), .count = channels});
  return pieces;
}

// Before 2.22, by the channels of collectives and with buffers beside those of the switch.
NcclPieceList Switch(const CommunicatorShape& shape) {
  const bool is_old = shape.version < kVersion222;
  const int channels = is_old ? shape.collective_channels : shape.switch_channels;
  const std::uint64_t each = (is_old ? 3 : 1) * kMiB;
  return {{.bytes = 2 * Number(channels) * Number(shape.ranks) * each, .count = 1}};
}

NcclPieceList SendAndReceive(std::uint64_t channels, const CommunicatorShape& shape) {
  return {{.bytes = SendBytes(shape), .count = channels},
          {.bytes = ReceiveBytes(shape), .count = channels}};
}

void Append(NcclPieceList more, NcclPieceList* pieces) {
  pieces->insert(pieces->end(), more.begin(), more.end());
}

}  // namespace

NcclPieceList PiecesAtStart(const CommunicatorShape& shape) {
  const std::uint64_t channels =
      Number(std::max({shape.collective_channels, shape.peer_channels, shape.switch_channels}));
  const std::uint64_t ranks = Number(shape.ranks);
  NcclPieceList pieces = {{.bytes = kDeviceState, .count = 1}};
  if (shape.version >= kVersion223) pieces.push_back({.bytes = kIndex * ranks, .count = 1});
  if (!shape.options.shares_parent)
    pieces.push_back({.bytes = kPeerState * ranks, .count = channels});
  pieces.push_back({.bytes = kPointer * (2 * ranks + 1), .count = channels});
  pieces.push_back({.bytes = kIndex * ranks, .count = channels});
  if (shape.switch_channels == 0) return pieces;
  pieces.push_back({.bytes = kPeerState * ranks, .count = Number(shape.switch_channels)});
  if (shape.version >= kVersion222)
    pieces.push_back({.bytes = 128 * Number(shape.switch_channels) * ranks, .count = 1});
  return pieces;
}

NcclPieceList PiecesOf(NcclWay way, const CommunicatorShape& shape) {
  if (shape.ranks == 1 || !shape.has_peers || shape.options.shares_parent) return {};
  switch (way) {
    case NcclWay::kRing:
      return SendAndReceive(Number(shape.collective_channels), shape);
    case NcclWay::kTree:
      return Tree(shape);
    case NcclWay::kSwitch:
      return shape.switch_channels == 0 ? NcclPieceList() : Switch(shape);
    case NcclWay::kPeer:
      return SendAndReceive(Number(shape.channels_per_peer), shape);
  }
  return {};
}

NcclPieceList PiecesOfEarlyConnections(const CommunicatorShape& shape) {
  NcclPieceList pieces;
  for (const NcclWay way : {NcclWay::kRing, NcclWay::kTree, NcclWay::kSwitch})
    Append(PiecesOf(way, shape), &pieces);
  const std::uint64_t chunk = shape.is_fast ? kNvlinkChunk : kOtherChunk;
  if (shape.has_peers || shape.ranks == 1)
    pieces.push_back({.bytes = Number(shape.peer_channels) * kStepsInFlight * chunk, .count = 1});
  return pieces;
}

NcclWay WayOf(std::string_view call, std::uint64_t bytes, const CommunicatorShape& shape) {
  const std::string_view algorithms = shape.options.algorithms;
  const auto allows = [&](std::string_view name) {
    return algorithms.empty() || algorithms.find(name) != std::string_view::npos;
  };
  if (call != "ncclAllReduce" || bytes < kMiB) return NcclWay::kRing;
  if (shape.switch_channels > 0 && allows("nvls")) return NcclWay::kSwitch;
  constexpr std::uint64_t kMostForTree = 16 * kMiB;
  if (shape.ranks > 2 && bytes < kMostForTree && allows("tree")) return NcclWay::kTree;
  return NcclWay::kRing;
}

std::uint64_t BytesOf(const NcclPieceList& pieces) {
  std::uint64_t bytes = 0;
  for (const NcclPieces& piece : pieces) bytes += piece.count * RoundUp(piece.bytes, kGranule);
  return bytes;
}

}  // namespace memtrace::card
