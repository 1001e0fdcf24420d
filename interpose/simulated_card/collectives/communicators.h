// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_

#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpose/simulated_card/collectives/collective_parts.h"
#include "interpose/simulated_card/collectives/rendezvous.h"

namespace memtrace::card {

// One rank of a communicator.
struct Communicator {
  int rank = 0;
  int size = 1;
  int device = 0;
  std::unique_ptr<RendezvousMember> member;  // null for the only rank
  std::atomic<ncclResult_t> error = ncclSuccess;
};
using CommunicatorPointer = std::shared_ptr<Communicator>;

// Handles are addresses; one that is not alive is answered with null, never followed. Safe from any
// thread.
ncclComm_t Register(CommunicatorPointer communicator);
CommunicatorPointer Find(ncclComm_t handle);
void Forget(ncclComm_t handle);

// Memory on the card.
struct DeviceRange {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

// One call of one rank.
struct CollectiveCall {
  enum Kind { kTogether, kSend, kReceive };

  const char* name = nullptr;  // the call's, what the card counts
  Kind kind = kTogether;
  CommunicatorPointer communicator;
  cudaStream_t stream = nullptr;
  int peer = 0;            // of kSend and kReceive
  std::uint64_t size = 0;  // bytes that all ranks must agree on
  DeviceRange given = {};  // what this rank hands over; empty: nothing
  DeviceRange taken = {};  // where the result goes; empty: nowhere
  // From what all ranks handed over (kReceive: one did). A result that is not held leaves the bytes
  // as they are, unknown.
  std::function<Part(const Parts&)> result = {};
  bool copies_alone = true;  // the only rank takes what it gives
  bool is_launched = true;   // false: no kernel (a communicator is made)
};

// Carries it out, at once or, between GroupStart and GroupEnd, at the outermost end: there all that
// the thread called is handed over before anything is waited for, so that one thread can be several
// ranks. Text of the last error: LastError().
ncclResult_t Call(CollectiveCall call);
void StartGroup();
ncclResult_t EndGroup();

// Texts that all ranks exchange outside the card's memory; nothing if a rank has ended.
std::optional<std::vector<std::string>> Exchange(Communicator& communicator,
                                                 const std::string& given);

// Of the calling thread, for ncclGetLastError.
const char* LastError();
ncclResult_t Fail(ncclResult_t result, std::string text);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_COLLECTIVES_COMMUNICATORS_H_
