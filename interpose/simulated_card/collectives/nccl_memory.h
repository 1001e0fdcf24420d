// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "interpose/simulated_card/collectives/communicator_shape.h"

namespace memtrace::card {

// The memory that NCCL takes of a card for one rank, by the rule of docs/design/nccl-memory.md:
// read from NCCL's public source (2.21 to 2.30) and met to the byte by 1 to 16 ranks on an H100.

// `count` allocations of `bytes` each.
struct NcclPieces {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};
using NcclPieceList = std::vector<NcclPieces>;

// The ways of working for which a communicator connects its ranks, each when it is first used.
enum class NcclWay { kRing, kTree, kSwitch, kPeer };

// Returns what making the communicator takes, without connections.
NcclPieceList PiecesAtStart(const CommunicatorShape& shape);

// Returns what the first use of a way takes; for kPeer, the first with one peer. Nothing if the
// connections go through memory of the host.
NcclPieceList PiecesOf(NcclWay way, const CommunicatorShape& shape);

// Returns what a communicator that connects early takes for all ways at its start: PiecesOf ring,
// tree and switch, and one pool for sending.
NcclPieceList PiecesOfEarlyConnections(const CommunicatorShape& shape);

// Returns the way that a call ("ncclAllReduce") over `bytes` of a rank uses. Assumed: NCCL compares
// estimates of time, of which this has only the outcome for cards of one machine.
NcclWay WayOf(std::string_view call, std::uint64_t bytes, const CommunicatorShape& shape);

// Returns the bytes of the card, with each allocation rounded to the driver's granules.
std::uint64_t BytesOf(const NcclPieceList& pieces);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_MEMORY_H_
