// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_MEMORY_H_

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/collectives/communicator_shape.h"
#include "interpose/simulated_card/collectives/nccl_memory.h"
#include "interpose/simulated_card/collectives/rank_machines.h"
#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {

// The card's memory that one rank of a communicator holds (docs/design/nccl-memory.md): taken when
// NCCL takes it, given back at the end. Pinned memory of the host is only counted. Safe from any
// thread.
class CommunicatorMemory {
 public:
  // Takes what a new communicator takes. Returns null, and takes nothing, if the card has no room.
  static std::unique_ptr<CommunicatorMemory> Take(int device, const NcclOptions& options,
                                                  int version, const RankMachines& machines,
                                                  int rank);
  ~CommunicatorMemory();
  CommunicatorMemory(const CommunicatorMemory&) = delete;
  CommunicatorMemory& operator=(const CommunicatorMemory&) = delete;

  // Takes what the call over `bytes` of each rank needs and no earlier call has taken. Returns
  // false if the card has no room.
  bool Connect(std::string_view call, std::uint64_t bytes);
  // The same for sending to a rank and receiving from it.
  bool ConnectPeer(int peer);
  // Takes what NCCL keeps for a launch that was captured. It is given back with the communicator.
  bool KeepCapturedLaunch();

 private:
  CommunicatorMemory(int device, const CommunicatorShape& shape, RankMachines machines, int rank)
      : device_(device), shape_(shape), machines_(std::move(machines)), rank_(rank) {}

  bool Start();
  memtrace_card_nccl_bytes Bounds() const;
  bool ConnectOne(int peer);
  bool ConnectOverNetwork();
  bool TakeMore(const NcclPieceList& pieces);
  void Tell();
  bool TakeAll(const NcclPieceList& pieces);
  bool TakeOwn(std::uint64_t bytes);
  bool TakeShared(std::uint64_t bytes);

  const int device_;
  const CommunicatorShape shape_;
  const RankMachines machines_;
  const int rank_;
  std::optional<std::uint64_t> stated_;  // the card's setting, instead of the rule
  Mutex mutex_;
  std::set<NcclWay> ways_;  // guarded by mutex_, like the rest
  std::set<int> peers_;
  bool has_network_pool_ = false;
  std::uint64_t taken_ = 0;
  std::uint64_t host_ = 0;
  memtrace_card_nccl_bytes told_ = {};  // to the card
  std::vector<CUmemGenericAllocationHandle> handles_;
  std::vector<CUdeviceptr> addresses_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATOR_MEMORY_H_
