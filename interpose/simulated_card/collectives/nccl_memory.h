// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/simulated_card/collectives/communicator_shape.h"

namespace memtrace::card {

// The memory that NCCL takes for one rank, by the rule of docs/design/nccl-memory.md: read from
// NCCL's public source (2.21 to 2.30). 1 to 16 ranks on an H100 met it to the byte; connections
// over a network were not measured.

// `count` allocations of `bytes` each, of the card or of pinned memory of the host.
struct NcclPieces {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  bool is_on_host = false;
};
using NcclPieceList = std::vector<NcclPieces>;

// The ways of working for which a communicator connects its ranks, each when it is first used.
// kPeer is a peer in the rank's machine, kNetworkPeer one elsewhere, for which kNetworkPool also is
// needed, once for all of them.
enum class NcclWay { kRing, kTree, kSwitch, kPeer, kNetworkPeer, kNetworkPool };

// Returns what making the communicator takes, without connections.
NcclPieceList PiecesAtStart(const CommunicatorShape& shape);

// Returns what the first use of a way takes; for kPeer and kNetworkPeer, the first with one peer.
// Which of a machine's cards connect it to others is spread evenly over them.
NcclPieceList PiecesOf(NcclWay way, const CommunicatorShape& shape);

// Returns what NCCL keeps for a launch that a graph captured, until the graph is destroyed. Nothing
// from 2.22 on, where the arguments of the kernel hold it.
NcclPieceList PiecesOfCapturedLaunch(const CommunicatorShape& shape);

// Returns what a communicator that connects early takes for all ways at its start: PiecesOf ring,
// tree and switch, and one pool for sending.
NcclPieceList PiecesOfEarlyConnections(const CommunicatorShape& shape);

// Returns the way that a call ("ncclAllReduce") over `bytes` of a rank uses. Assumed: NCCL compares
// estimates of time, of which this has only the outcome for cards of one machine.
NcclWay WayOf(std::string_view call, std::uint64_t bytes, const CommunicatorShape& shape);

// Returns the bytes of the card, with each allocation rounded to the driver's granules.
std::uint64_t BytesOf(const NcclPieceList& pieces);
// Returns the bytes of pinned memory of the host.
std::uint64_t HostBytesOf(const NcclPieceList& pieces);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_
