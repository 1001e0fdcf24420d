// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpose/simulated_card/collectives/collective_parts.h"
#include "interpose/simulated_card/collectives/communicator_memory.h"
#include "interpose/simulated_card/collectives/nccl_header.h"
#include "interpose/simulated_card/collectives/rank_machines.h"
#include "interpose/simulated_card/collectives/rendezvous.h"
#include "interpose/simulated_card/collectives/virtual_ranks.h"

namespace memtrace::card {

// One rank of a communicator.
struct Communicator {
  int rank = 0;
  int size = 1;
  int device = 0;
  RealRanks real = RealRanks(1);
  RankMachines machines = RankMachines::InOneMachine(1);
  std::unique_ptr<RendezvousMember> member;    // of the real ranks; null if there is only one rank
  std::unique_ptr<CommunicatorMemory> memory;  // null until all real ranks have met
  std::atomic<ncclResult_t> error = ncclSuccess;
};
using CommunicatorPointer = std::shared_ptr<Communicator>;

// Handles are addresses. Find returns null for one that is not alive; handles are never
// dereferenced. Safe from any thread.
ncclComm_t Register(CommunicatorPointer communicator);
CommunicatorPointer Find(ncclComm_t handle);
void Forget(ncclComm_t handle);

// A range of memory on the card.
struct DeviceRange {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// One call of one rank.
struct CollectiveCall {
  enum Kind { kTogether, kSend, kReceive };

  const char* name = nullptr;  // the call's name, which the card counts
  Kind kind = kTogether;
  CommunicatorPointer communicator;
  cudaStream_t stream = nullptr;
  int peer = 0;            // for kSend and kReceive; else the root of a call that has one
  int root = -1;           // the only rank whose contribution is used; -1: all are
  std::uint64_t size = 0;  // bytes that all ranks must agree on
  DeviceRange given = {};  // this rank's contribution; empty: nothing
  DeviceRange taken = {};  // the place of the result; empty: nowhere
  std::string told = {};   // what this rank tells the others, beside the card's memory
  // Computes the result from all ranks' contributions (for kReceive, from one). If the result is
  // not held, the bytes stay as they are, unknown.
  std::function<Part(const Parts&)> result = {};
  // Runs instead of `result`, when all real ranks have made the call, with what each of them told.
  std::function<ncclResult_t(const Parts&)> when_met = {};
  bool copies_alone = true;  // a single rank copies `given` to `taken`
  bool is_launched = true;   // false: no kernel (a communicator is made)
};

// Carries the call out, at once or, between GroupStart and GroupEnd, at the outermost end. There,
// all calls of the thread are sent before any is waited for, so that one thread can be several
// ranks. LastError() has the text of the last error.
ncclResult_t Call(CollectiveCall call);
void StartGroup();
ncclResult_t EndGroup();

// Says where this thread's own contribution to a gather is, which torch makes of receives from all
// other ranks and a copy of its own. It stands in for virtual ranks. An empty range: nowhere.
void SetOwnContribution(const DeviceRange& own);

// Exchanges texts between all ranks, outside the card's memory; returns nothing if a rank has
// ended.
std::optional<std::vector<std::string>> Exchange(Communicator& communicator,
                                                 const std::string& given);

// Returns the calling thread's last error, for ncclGetLastError.
const char* LastError();
ncclResult_t Fail(ncclResult_t result, std::string text);
// Fails as NCCL does if the card has no room for its memory.
ncclResult_t FailForMemory();

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_
