// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/nccl_memory.h"

#include <algorithm>

#include "base/units.h"
#include "interpose/simulated_card/collectives/counts.h"
#include "interpose/simulated_card/collectives/nccl_versions.h"

namespace memtrace::card {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGranule = 2 * kMiB;
constexpr std::uint64_t kHead = 4096;          // of a connection, for each direction of signals
constexpr std::uint64_t kDeviceState = 23648;  // the communicator's own, as NCCL 2.30 logs it
constexpr std::uint64_t kPeerState = 608;      // a channel's, for each rank; likewise
constexpr std::uint64_t kPointer = 8;
constexpr std::uint64_t kIndex = 4;
constexpr std::uint64_t kStepsInFlight = 16;
constexpr std::uint64_t kNvlinkChunk = kMiB / 2;
constexpr std::uint64_t kOtherChunk = kMiB / 8;
constexpr std::uint64_t kWork = 512;                    // one entry of the work queue before 2.22
constexpr std::uint64_t kOldWorkQueue = 65536 * kWork;  // before 2.22
constexpr std::uint64_t kProfilerCounters = std::uint64_t{128} * 1024;  // from 2.27 on

std::uint64_t SendBytes(const CommunicatorShape& shape) {
  return RoundUp(kHead + (shape.reads ? shape.options.simple_buffer : 0), kGranule);
}

std::uint64_t ReceiveBytes(const CommunicatorShape& shape) {
  const NcclOptions& options = shape.options;
  return RoundUp(kHead + options.low_latency_buffer + options.low_latency_128_buffer +
                     (shape.reads ? 0 : options.simple_buffer),
                 kGranule);
}

std::uint64_t AllBuffers(const NcclOptions& options) {
  return options.low_latency_buffer + options.low_latency_128_buffer + options.simple_buffer;
}

// Two processes share memory of the host; the receiver makes the part with buffers.
std::uint64_t SharedHostBytes(std::uint64_t buffers, const CommunicatorShape& shape) {
  const NcclOptions& options = shape.options;
  const bool has_granules =
      shape.version >= kVersion224 && options.has_own_pieces && options.has_host_pieces;
  return has_granules ? RoundUp(kHead + buffers, kGranule) : kHead + buffers;
}

// Connections within the machine: `sends` to send and `receives` to receive.
NcclPieceList Near(std::uint64_t sends, std::uint64_t receives, const CommunicatorShape& shape) {
  if (shape.has_peers)
    return {{.bytes = SendBytes(shape), .count = sends},
            {.bytes = ReceiveBytes(shape), .count = receives}};
  return {{.bytes = SharedHostBytes(0, shape), .count = sends, .is_on_host = true},
          {.bytes = SharedHostBytes(AllBuffers(shape.options), shape),
           .count = receives,
           .is_on_host = true}};
}

// Connections over the network: `channels` to send and as many to receive. The sender keeps the
// smallest buffer on the host, since its processor reads it.
NcclPieceList Far(std::uint64_t channels, const CommunicatorShape& shape) {
  const NcclOptions& options = shape.options;
  const std::uint64_t all = AllBuffers(options);
  const std::uint64_t heads = 2 * kHead;
  if (!shape.has_rdma) return {{.bytes = all + heads, .count = 2 * channels, .is_on_host = true}};
  const std::uint64_t smallest = options.low_latency_buffer;
  return {{.bytes = all - smallest, .count = channels},
          {.bytes = all, .count = channels},
          {.bytes = smallest + heads, .count = channels, .is_on_host = true},
          {.bytes = heads, .count = channels, .is_on_host = true}};
}

// Returns the channels in which this rank's card connects the machine to others, in a ring: one of
// the machine's cards in each channel, another from channel to channel.
std::uint64_t FarChannels(const CommunicatorShape& shape) {
  const RankPlace& place = shape.place;
  if (place.machines == 1) return 0;
  return Unsigned((shape.collective_channels + place.ranks_here - 1 - place.place) /
                  place.ranks_here);
}

// In a tree of machines each has 2 (n - 1) / n neighbours on average, one to three.
std::uint64_t TreeConnections(std::uint64_t channels, const CommunicatorShape& shape) {
  const std::uint64_t machines = Unsigned(shape.place.machines);
  return (2 * channels * (machines - 1) + machines / 2) / machines;
}

void Append(NcclPieceList more, NcclPieceList* pieces) {
  pieces->insert(pieces->end(), more.begin(), more.end());
}

NcclPieceList Ring(const CommunicatorShape& shape) {
  const std::uint64_t far = FarChannels(shape);
  const std::uint64_t near = Unsigned(shape.collective_channels) - far;
  NcclPieceList pieces = Near(near, near, shape);
  if (far > 0) Append(Far(far, shape), &pieces);
  return pieces;
}

// A ring receives from the rank before and sends to the rank after. In the chain of a tree, which
// is taken to follow the ring within a machine, a rank also sends to the one before and receives
// from the one after. The ring of two ranks has all connections of a tree.
NcclPieceList Tree(const CommunicatorShape& shape) {
  const RankPlace& place = shape.place;
  if (place.ranks <= 2) return {};
  const std::uint64_t channels = Unsigned(shape.collective_channels);
  const bool is_first = place.place == 0;
  const bool is_last = place.place == place.ranks_here - 1;
  NcclPieceList pieces = Near(is_first ? 0 : channels, is_last ? 0 : channels, shape);
  if (place.machines > 1) Append(Far(TreeConnections(FarChannels(shape), shape), shape), &pieces);
  return pieces;
}

// Before 2.22, by the channels of collectives and with buffers beside those of the switch. Ranks
// of several machines that have the same place also form a tree in each of the switch's channels.
NcclPieceList Switch(const CommunicatorShape& shape) {
  if (shape.switch_channels == 0) return {};
  const bool is_old = shape.version < kVersion222;
  const int channels = is_old ? shape.collective_channels : shape.switch_channels;
  const std::uint64_t each = (is_old ? 3 : 1) * kMiB;
  const std::uint64_t bytes = 2 * Unsigned(channels) * Unsigned(shape.place.ranks_here) * each;
  NcclPieceList pieces = {{.bytes = bytes, .count = 1}};
  if (shape.place.machines > 1)
    Append(Far(TreeConnections(Unsigned(shape.switch_channels), shape), shape), &pieces);
  return pieces;
}

std::uint64_t PoolBytes(const CommunicatorShape& shape) {
  const std::uint64_t chunk = shape.is_fast ? kNvlinkChunk : kOtherChunk;
  return Unsigned(shape.peer_channels) * kStepsInFlight * chunk;
}

// One pool for sending and one for receiving. The first exists if connections are made early.
NcclPieceList NetworkPool(const CommunicatorShape& shape) {
  const bool has_one = shape.is_early && shape.has_rdma;
  return {{.bytes = PoolBytes(shape),
           .count = has_one ? std::uint64_t{1} : std::uint64_t{2},
           .is_on_host = !shape.has_rdma}};
}

NcclPieceList OnHostAtStart(const CommunicatorShape& shape) {
  const bool is_old = shape.version < kVersion222;
  NcclPieceList pieces = {
      {.bytes = is_old ? kOldWorkQueue : shape.options.work_queue, .count = 1, .is_on_host = true}};
  if (shape.version >= kVersion227)
    pieces.push_back({.bytes = kProfilerCounters, .count = 1, .is_on_host = true});
  return pieces;
}

}  // namespace

NcclPieceList PiecesAtStart(const CommunicatorShape& shape) {
  const std::uint64_t channels =
      Unsigned(std::max({shape.collective_channels, shape.peer_channels, shape.switch_channels}));
  const std::uint64_t ranks = Unsigned(shape.place.ranks);
  const std::uint64_t ranks_here = Unsigned(shape.place.ranks_here);
  NcclPieceList pieces = OnHostAtStart(shape);
  pieces.push_back({.bytes = kDeviceState, .count = 1});
  if (shape.version >= kVersion223) pieces.push_back({.bytes = kIndex * ranks, .count = 1});
  if (!shape.options.shares_parent)
    pieces.push_back({.bytes = kPeerState * ranks, .count = channels});
  pieces.push_back({.bytes = kPointer * (ranks + 1 + ranks_here), .count = channels});
  pieces.push_back({.bytes = kIndex * ranks, .count = channels});
  if (shape.switch_channels == 0) return pieces;
  pieces.push_back({.bytes = kPeerState * ranks_here, .count = Unsigned(shape.switch_channels)});
  if (shape.version >= kVersion222)
    pieces.push_back({.bytes = 128 * Unsigned(shape.switch_channels) * ranks_here, .count = 1});
  return pieces;
}

NcclPieceList PiecesOf(NcclWay way, const CommunicatorShape& shape) {
  if (shape.place.ranks == 1 || shape.options.shares_parent) return {};
  const std::uint64_t per_peer = Unsigned(shape.channels_per_peer);
  switch (way) {
    case NcclWay::kRing:
      return Ring(shape);
    case NcclWay::kTree:
      return Tree(shape);
    case NcclWay::kSwitch:
      return Switch(shape);
    case NcclWay::kPeer:
      return Near(per_peer, per_peer, shape);
    case NcclWay::kNetworkPeer:
      return {{.bytes = 2 * kHead, .count = 2 * per_peer, .is_on_host = true}};
    case NcclWay::kNetworkPool:
      return NetworkPool(shape);
  }
  return {};
}

NcclPieceList PiecesOfCapturedLaunch(const CommunicatorShape& shape) {
  if (shape.version >= kVersion222) return {};
  return {{.bytes = kWork * Unsigned(shape.collective_channels), .count = 1}};
}

NcclPieceList PiecesOfEarlyConnections(const CommunicatorShape& shape) {
  NcclPieceList pieces;
  for (const NcclWay way : {NcclWay::kRing, NcclWay::kTree, NcclWay::kSwitch})
    Append(PiecesOf(way, shape), &pieces);
  if (shape.has_peers || shape.place.ranks == 1 || shape.place.machines > 1)
    pieces.push_back({.bytes = PoolBytes(shape), .count = 1});
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
  if (shape.place.ranks > 2 && bytes < kMostForTree && allows("tree")) return NcclWay::kTree;
  return NcclWay::kRing;
}

std::uint64_t BytesOf(const NcclPieceList& pieces) {
  std::uint64_t bytes = 0;
  for (const NcclPieces& piece : pieces)
    if (!piece.is_on_host) bytes += piece.count * RoundUp(piece.bytes, kGranule);
  return bytes;
}

std::uint64_t HostBytesOf(const NcclPieceList& pieces) {
  std::uint64_t bytes = 0;
  for (const NcclPieces& piece : pieces)
    if (piece.is_on_host) bytes += piece.count * piece.bytes;
  return bytes;
}

}  // namespace memtrace::card
