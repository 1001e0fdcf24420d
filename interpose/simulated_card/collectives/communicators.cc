// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/communicators.h"

#include <cuda.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "interpose/simulated_card/collectives/thread_card.h"
#include "interpose/simulated_card/interface/card_ranges.h"
#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {
namespace {

struct Registry {
  Mutex mutex;
  std::unordered_map<ncclComm_t, CommunicatorPointer> communicators;  // guarded by mutex
};

// Never destroyed, because programs may destroy communicators until the very end.
Registry& OfProcess() {
  static auto* registry = new Registry;
  return *registry;
}

// A call that has begun.
struct Pending {
  CollectiveCall call;
  bool is_captured = false;  // it enters a graph: nothing is exchanged
  RendezvousMember::Ticket ticket = 0;
  Part own = {};
};

thread_local int group_depth = 0;
thread_local std::vector<CollectiveCall> grouped;
thread_local std::string last_error;

// Finish accounts for the kernel's writes.
ncclResult_t Launch(const CollectiveCall& call) {
  const OnCard card(call.communicator->device);
  memtrace_card_thread_state* thread = memtrace_card_thread();
  ++thread->operators;
  const int launched = memtrace_card_launch_call(call.name, call.stream);
  --thread->operators;
  if (launched == 0) return ncclSuccess;
  return Fail(ncclUnhandledCudaError,
              std::string(call.name) + ": the launch failed with " + std::to_string(launched));
}

bool IsCaptured(const CollectiveCall& call) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return cuStreamIsCapturing(call.stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Part ReadFromCard(const CollectiveCall& call) {
  const auto& [begin, bytes] = call.given;
  Part part = {.call = call.name, .size = call.size, .held = false, .bytes = {}, .known = {}};
  if (bytes == 0 || bytes > Part::kMostBytes) return part;
  std::string contents(bytes, '\0');
  part.held = memtrace_card_read(begin, bytes, contents.data()) == 1;
  if (!part.held) return part;
  part.bytes = std::move(contents);
  part.known.resize(bytes);
  memtrace_card_read_known(begin, bytes, part.known.data());
  return part;
}

void WriteToCard(const DeviceRange& taken, const Part& part) {
  if (taken.bytes == 0) return;
  const bool written = part.held && part.bytes.size() == taken.bytes &&
                       memtrace_card_write(taken.begin, taken.bytes, part.bytes.data()) == 1;
  if (!written) return memtrace_card_set_known(taken.begin, taken.bytes, MEMTRACE_CARD_UNKNOWN);
  // Each pass handles one run of equally known bytes.
  for (std::size_t begin = 0; begin < taken.bytes;) {
    const std::size_t end = std::min(part.known.find_first_not_of(part.known[begin], begin),
                                     static_cast<std::size_t>(taken.bytes));
    memtrace_card_set_known(taken.begin + begin, end - begin, part.known[begin]);
    begin = end;
  }
}

bool IsPlainCopyOfOneRank(const CollectiveCall& call) {
  return call.communicator->size == 1 && call.kind == CollectiveCall::kTogether &&
         call.copies_alone;
}

// A single rank needs no other rank's bytes, so any size can be copied.
ncclResult_t CopyForOneRank(const CollectiveCall& call) {
  const auto& [from, bytes] = call.given;
  if (call.taken.bytes == 0 || call.taken.begin == from) return ncclSuccess;
  const OnCard card(call.communicator->device);
  const CUresult copied = cuMemcpyAsync(call.taken.begin, from, bytes, call.stream);
  if (copied == CUDA_SUCCESS) return ncclSuccess;
  const char* text = nullptr;
  cuGetErrorString(copied, &text);
  return Fail(ncclUnhandledCudaError,
              std::string(call.name) + ": " + (text == nullptr ? "" : text));
}

// Takes what the call's way of working needs, before its first use.
ncclResult_t Connect(const CollectiveCall& call) {
  CommunicatorMemory& memory = *call.communicator->memory;
  const bool is_with_one = call.kind != CollectiveCall::kTogether;
  const bool is_connected =
      is_with_one ? memory.ConnectPeer(call.peer) : memory.Connect(call.name, call.size);
  return is_connected ? ncclSuccess : FailForMemory();
}

// Sends this rank's part without waiting for others.
ncclResult_t Begin(Pending* pending) {
  const CollectiveCall& call = pending->call;
  if (call.is_launched) {
    const ncclResult_t connected = Connect(call);
    if (connected != ncclSuccess) return connected;
    pending->is_captured = IsCaptured(call);
    const ncclResult_t launched = Launch(call);
    if (launched != ncclSuccess || pending->is_captured) return launched;
  }
  if (IsPlainCopyOfOneRank(call)) return CopyForOneRank(call);
  pending->own = ReadFromCard(call);
  RendezvousMember* member = call.communicator->member.get();
  if (member == nullptr) return ncclSuccess;
  if (call.kind == CollectiveCall::kSend) {
    member->Send(call.peer, Encode(pending->own));
  } else if (call.kind == CollectiveCall::kReceive) {
    pending->ticket = member->Receive(call.peer);
  } else {
    pending->ticket = member->Gather(Encode(pending->own));
  }
  return ncclSuccess;
}

std::string Describe(const Part& part) {
  return part.call + " of " + std::to_string(part.size) + " bytes";
}

// On a GPU, ranks that disagree wait for each other forever, or mix up their bytes.
ncclResult_t CheckAgreement(const CollectiveCall& call, const Part& own, const Parts& parts) {
  const std::string rank = std::to_string(call.communicator->rank);
  if (call.kind == CollectiveCall::kReceive) {
    const Part& sent = parts.front();
    if (sent.size == call.size) return ncclSuccess;
    return Fail(ncclInvalidUsage, "rank " + rank + " receives " + std::to_string(call.size) +
                                      " bytes, rank " + std::to_string(call.peer) + " sends " +
                                      std::to_string(sent.size));
  }
  for (std::size_t other = 0; other < parts.size(); ++other) {
    if (parts[other].call == own.call && parts[other].size == own.size) continue;
    return Fail(ncclInvalidUsage, "rank " + rank + " calls " + Describe(own) + ", rank " +
                                      std::to_string(other) + " " + Describe(parts[other]));
  }
  return ncclSuccess;
}

ncclResult_t Finish(const Pending& pending) {
  const CollectiveCall& call = pending.call;
  Communicator& communicator = *call.communicator;
  if (pending.is_captured || call.kind == CollectiveCall::kSend || IsPlainCopyOfOneRank(call))
    return ncclSuccess;
  Parts parts = {pending.own};
  if (communicator.member != nullptr) {
    const auto answer = communicator.member->Answer(pending.ticket);
    if (!answer) {
      communicator.error = ncclRemoteError;
      return Fail(ncclRemoteError, std::string(call.name) + ": another rank has ended");
    }
    parts.clear();
    for (const std::string& text : *answer) parts.push_back(Decode(text));
  }
  const ncclResult_t agreed = CheckAgreement(call, pending.own, parts);
  if (agreed != ncclSuccess) return agreed;
  if (call.result) WriteToCard(call.taken, call.result(parts));
  return ncclSuccess;
}

}  // namespace

ncclComm_t Register(CommunicatorPointer communicator) {
  Registry& registry = OfProcess();
  const MutexLock lock(registry.mutex);
  auto* handle = reinterpret_cast<ncclComm_t>(communicator.get());
  registry.communicators.emplace(handle, std::move(communicator));
  return handle;
}

CommunicatorPointer Find(ncclComm_t handle) {
  Registry& registry = OfProcess();
  const MutexLock lock(registry.mutex);
  const auto found = registry.communicators.find(handle);
  return found == registry.communicators.end() ? nullptr : found->second;
}

void Forget(ncclComm_t handle) {
  Registry& registry = OfProcess();
  const MutexLock lock(registry.mutex);
  registry.communicators.erase(handle);
}

ncclResult_t Call(CollectiveCall call) {
  if (group_depth > 0) {
    grouped.push_back(std::move(call));
    return ncclSuccess;
  }
  Pending pending = {.call = std::move(call)};
  const ncclResult_t begun = Begin(&pending);
  return begun == ncclSuccess ? Finish(pending) : begun;
}

void StartGroup() { ++group_depth; }

ncclResult_t EndGroup() {
  if (group_depth == 0) return Fail(ncclInvalidUsage, "ncclGroupEnd: no group was started");
  if (--group_depth > 0) return ncclSuccess;
  std::vector<Pending> all;
  ncclResult_t result = ncclSuccess;
  for (CollectiveCall& call : std::exchange(grouped, {})) {
    all.push_back({.call = std::move(call)});
    result = Begin(&all.back());
    if (result != ncclSuccess) return result;
  }
  for (const Pending& pending : all) {
    const ncclResult_t finished = Finish(pending);
    if (result == ncclSuccess) result = finished;
  }
  return result;
}

std::optional<std::vector<std::string>> Exchange(Communicator& communicator,
                                                 const std::string& given) {
  if (communicator.member == nullptr) return std::vector<std::string>{given};
  return communicator.member->Answer(communicator.member->Gather(given));
}

const char* LastError() { return last_error.c_str(); }

ncclResult_t Fail(ncclResult_t result, std::string text) {
  last_error = std::move(text);
  return result;
}

ncclResult_t FailForMemory() {
  return Fail(ncclUnhandledCudaError, "Cuda failure 2 'out of memory'");
}

}  // namespace memtrace::card
