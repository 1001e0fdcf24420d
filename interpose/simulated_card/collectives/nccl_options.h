// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_OPTIONS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "interpose/simulated_card/collectives/nccl_header.h"

namespace memtrace::card {

// The settings of NCCL that decide how much memory it takes: NCCL_* variables (NVIDIA's manual,
// "Environment Variables") and ncclConfig_t. Sizes are in bytes.
struct NcclOptions {
  bool has_own_pieces = true;   // NCCL_CUMEM_ENABLE: each allocation is one of cuMemCreate
  bool connects_on_use = true;  // NCCL_RUNTIME_CONNECT
  bool uses_switch = true;      // NCCL_NVLS_ENABLE: NVLink's switches reduce
  bool uses_peers = true;       // NCCL_P2P_DISABLE: cards reach each other's memory
  bool allows_rdma = true;      // NCCL_NET_GDR_LEVEL, NCCL_IB_DISABLE, NCCL_NET: the network does
  bool has_host_pieces = true;  // NCCL_CUMEM_HOST_ENABLE: memory of the host, too, is cuMemCreate's
  // NCCL_P2P_READ_ENABLE: the receiver reads, instead of the sender writing; else NCCL chooses.
  std::optional<bool> peers_read = std::nullopt;
  bool shares_parent = false;  // ncclConfig_t::splitShare
  int fewest_channels = 1;     // NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS, ncclConfig_t::minCTAs
  int most_channels = std::numeric_limits<int>::max();          // likewise
  int fewest_peer_channels = 1;                                 // NCCL_MIN_P2P_NCHANNELS
  int most_peer_channels = std::numeric_limits<int>::max();     // NCCL_MAX_P2P_NCHANNELS
  std::uint64_t simple_buffer = 4u << 20;                       // NCCL_BUFFSIZE
  std::uint64_t low_latency_buffer = 8ull * 512 * 8 * 16;       // NCCL_LL_BUFFSIZE
  std::uint64_t low_latency_128_buffer = 120ull * 640 * 8 * 8;  // NCCL_LL128_BUFFSIZE
  std::uint64_t work_queue = 1u << 20;                          // NCCL_WORK_FIFO_BYTES
  std::string algorithms;  // NCCL_ALGO, in lower case; empty: all
};

// Reads the variables of this process. Safe from any thread that does not change them.
NcclOptions ReadNcclOptions();

// Adds what a program passes with a communicator; `config` may be null.
void AddConfig(const ncclConfig_t* config, NcclOptions* options);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_NCCL_OPTIONS_H_
