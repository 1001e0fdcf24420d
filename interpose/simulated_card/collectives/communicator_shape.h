// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_SHAPE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_SHAPE_H_

#include "interpose/simulated_card/collectives/nccl_options.h"
#include "interpose/simulated_card/collectives/rank_machines.h"
#include "interpose/simulated_card/interface/card_link.h"

namespace memtrace::card {

// The cards that a communicator's ranks use, all alike, in one machine.
struct Neighbours {
  CardLink link = CardLink::kHost;
  int channels = 4;             // NCCL's, between several
  int compute_capability = 80;  // 90 is 9.0
};

// Everything that decides how much memory a rank of a communicator takes, and when.
struct CommunicatorShape {
  int version = 0;  // as ncclGetVersion has it: 22809 is 2.28.9
  RankPlace place = {};
  int collective_channels = 1;
  int peer_channels = 1;      // for send and receive, all peers together
  int channels_per_peer = 1;  // for send and receive with one peer
  int switch_channels = 0;    // NVLS; 0: not used
  bool reads = false;         // the receiver reads, instead of the sender writing
  bool has_peers = false;     // cards reach each other's memory
  bool is_fast = false;       // there is no slower link than NVLink
  bool has_rdma = false;      // the network's adapters reach the card's memory
  bool is_early = false;      // all connections are made with the communicator
  NcclOptions options = {};
};

// Finds the channels as NCCL does, from the cards' links, the ranks' machines and the options. The
// numbers for cards are those of card_spec.h; docs/design/nccl-memory.md says which of these were
// seen on real machines.
CommunicatorShape ShapeOf(const Neighbours& neighbours, const NcclOptions& options, int version,
                          const RankPlace& place);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_SHAPE_H_
