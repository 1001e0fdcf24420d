// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/communicators.h"

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "interpose/simulated_card/collectives/card_contents.h"
#include "interpose/simulated_card/collectives/gathered_broadcasts.h"
#include "interpose/simulated_card/collectives/sent_bytes.h"
#include "interpose/simulated_card/collectives/thread_card.h"
#include "interpose/simulated_card/collectives/unseen_receives.h"
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
  Part received = {};  // for kReceive, and for a broadcast from a real root
};
using PendingList = std::vector<Pending>;

thread_local int group_depth = 0;
thread_local std::vector<CollectiveCall> grouped;
thread_local std::string last_error;
thread_local DeviceRange own_contribution;

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
  if (is_with_one && call.peer == call.communicator->rank) return ncclSuccess;
  const bool is_connected =
      is_with_one ? memory.ConnectPeer(call.peer) : memory.Connect(call.name, call.size);
  return is_connected ? ncclSuccess : FailForMemory();
}

void CountSent(const CollectiveCall& call) {
  const Communicator& ours = *call.communicator;
  const SentBytes sent = SentBy(
      {.name = call.name, .size = call.size, .rank = ours.rank, .peer = call.peer}, ours.machines);
  const memtrace_card_sent more = {
      .bytes = sent.within, .network_bytes = sent.network, .sends = sent.sends};
  memtrace_card_count_sent(&more);
}

bool IsWithVirtualPeer(const CollectiveCall& call) {
  return call.kind != CollectiveCall::kTogether && !call.communicator->real.Contains(call.peer);
}

bool IsFromVirtualRoot(const CollectiveCall& call) {
  return call.root >= 0 && !call.communicator->real.Contains(call.root);
}

// Sends this rank's part without waiting for others.
ncclResult_t Begin(Pending* pending) {
  const CollectiveCall& call = pending->call;
  if (call.is_launched) {
    const ncclResult_t connected = Connect(call);
    if (connected != ncclSuccess) return connected;
    pending->is_captured = IsCaptured(call);
    const ncclResult_t launched = Launch(call);
    if (launched == ncclSuccess) CountSent(call);
    if (launched != ncclSuccess || pending->is_captured) return launched;
  }
  if (IsPlainCopyOfOneRank(call)) return CopyForOneRank(call);
  pending->own = ReadFromCard(call);
  RendezvousMember* member = call.communicator->member.get();
  if (member == nullptr || IsWithVirtualPeer(call)) return ncclSuccess;
  if (call.kind == CollectiveCall::kSend) {
    member->Send(call.communicator->real.IndexOf(call.peer), Encode(pending->own));
  } else if (call.kind == CollectiveCall::kReceive) {
    pending->ticket = member->Receive(call.communicator->real.IndexOf(call.peer));
  } else {
    pending->ticket = member->Gather(Encode(pending->own));
  }
  return ncclSuccess;
}

// The captured calls of a group are one launch of each communicator.
ncclResult_t KeepCapturedLaunches(const PendingList& all) {
  std::set<const Communicator*> launched;
  for (const Pending& pending : all) {
    const Communicator* communicator = pending.call.communicator.get();
    if (!pending.is_captured || !launched.insert(communicator).second) continue;
    if (!communicator->memory->KeepCapturedLaunch()) return FailForMemory();
  }
  return ncclSuccess;
}

std::string Describe(const Part& part) {
  return part.call + " of " + std::to_string(part.size) + " bytes";
}

// On a GPU, ranks that disagree wait for each other forever, or mix up their bytes.
ncclResult_t CheckAgreement(const CollectiveCall& call, const Part& own, const Parts& parts) {
  if (call.kind == CollectiveCall::kReceive) {
    const Part& sent = parts.front();
    if (sent.size == call.size) return ncclSuccess;
    return Fail(ncclInvalidUsage, ReceiveText(call) + std::to_string(sent.size));
  }
  for (std::size_t other = 0; other < parts.size(); ++other) {
    if (parts[other].call == own.call && parts[other].size == own.size) continue;
    const int other_rank = call.communicator->real.ranks()[other];
    return Fail(ncclInvalidUsage, "rank " + std::to_string(call.communicator->rank) + " calls " +
                                      Describe(own) + ", rank " + std::to_string(other_rank) + " " +
                                      Describe(parts[other]));
  }
  return ncclSuccess;
}

// Counts a call whose contents are small enough to steer a program, but come from virtual ranks.
void CountIfSmall(const CollectiveCall& call) {
  if (call.taken.bytes > 0 && call.size <= MostExchangedBytes(call.communicator->real))
    CountMadeUp(call.name);
}

// Writes the result of the real ranks' parts and of what stands in for the virtual ones.
void TakeResult(const CollectiveCall& call, const Parts& parts) {
  const RealRanks& ranks = call.communicator->real;
  if (!call.result) return;
  if (ranks.AreAll() || call.kind == CollectiveCall::kReceive)
    return WriteToCard(call.taken, call.result(parts));
  if (call.root < 0 || IsFromVirtualRoot(call)) CountIfSmall(call);
  if (IsFromVirtualRoot(call)) return KeepAsAssumed(call.taken);
  WriteToCard(call.taken, call.result(WithVirtualRanks(parts, ranks)));
}

bool HasNothingToFinish(const Pending& pending) {
  const CollectiveCall& call = pending.call;
  return pending.is_captured || call.kind == CollectiveCall::kSend || IsPlainCopyOfOneRank(call);
}

// Returns the member's ranks as those of the communicator: "1, 3".
std::string RanksText(const Communicator& communicator, const std::vector<int>& members) {
  std::string text;
  for (const int member : members) {
    const int rank = communicator.real.ranks()[static_cast<std::size_t>(member)];
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

// Says that the call has waited for long. It goes on waiting, as on a GPU.
void SayLate(const CollectiveCall& call, const std::vector<int>& members) {
  const Communicator& communicator = *call.communicator;
  const char* missing = call.kind == CollectiveCall::kReceive ? "ncclSend" : call.name;
  std::fprintf(stderr,
               "memtrace: rank %d of a group of %d has waited 60 s in %s for calls of %s by these "
               "ranks: %s\n",
               communicator.rank, communicator.size, call.name, missing,
               RanksText(communicator, members).c_str());
}

ncclResult_t FailForEnded(const CollectiveCall& call) {
  Communicator& communicator = *call.communicator;
  communicator.error = ncclRemoteError;
  const int ended = communicator.member->ended();
  const std::string who = ended < 0 ? "another rank" : "rank " + RanksText(communicator, {ended});
  return Fail(ncclRemoteError, std::string(call.name) + ": " + who + " has ended");
}

// Leaves receives from virtual ranks to FinishVirtual.
ncclResult_t Finish(Pending* pending) {
  const CollectiveCall& call = pending->call;
  const Communicator& communicator = *call.communicator;
  if (HasNothingToFinish(*pending) || IsWithVirtualPeer(call)) return ncclSuccess;
  Parts parts = {pending->own};
  if (communicator.member != nullptr) {
    if (ReceiveUnseen(call, pending->ticket)) return ncclSuccess;
    const auto answer = communicator.member->Answer(
        pending->ticket, [&](const std::vector<int>& late) { SayLate(call, late); });
    if (!answer) return FailForEnded(call);
    parts.clear();
    for (const std::string& text : *answer) parts.push_back(Decode(text));
  }
  const ncclResult_t agreed = CheckAgreement(call, pending->own, parts);
  if (agreed != ncclSuccess) return agreed;
  if (call.when_met) return call.when_met(parts);
  if (call.kind == CollectiveCall::kReceive) pending->received = parts.front();
  if (GatheredBroadcasts::IsOne(call) && !IsFromVirtualRoot(call))
    pending->received = parts[static_cast<std::size_t>(communicator.real.IndexOf(call.root))];
  TakeResult(call, parts);
  return ncclSuccess;
}

// Returns what the nearest real rank sent to this one, where all exchange with all, or this rank
// gathers; else nothing, which is unknown.
Part StandInFor(const CollectiveCall& call, const PendingList& all) {
  const RealRanks& ranks = call.communicator->real;
  const int nearest = ranks.NearestTo(call.peer);
  Part found;
  int receives = 0;
  for (const Pending& other : all) {
    const bool is_alike = other.call.kind == CollectiveCall::kReceive &&
                          other.call.communicator == call.communicator &&
                          other.call.size == call.size;
    if (!is_alike) continue;
    ++receives;
    if (other.call.peer == nearest) found = other.received;
  }
  const bool is_gather = own_contribution.bytes == call.size && receives == ranks.size() - 1;
  if (is_gather && nearest == call.communicator->rank) {
    CollectiveCall own = call;
    own.given = own_contribution;
    found = ReadFromCard(own);
  }
  if (!is_gather && receives != ranks.size()) return {};
  Assume(&found);
  return found;
}

// Ends the receives from virtual ranks, after those from real ones.
void FinishVirtual(const PendingList& all) {
  for (const Pending& pending : all) {
    const CollectiveCall& call = pending.call;
    if (HasNothingToFinish(pending) || !IsWithVirtualPeer(call)) continue;
    CountIfSmall(call);
    WriteToCard(call.taken, StandInFor(call, all));
  }
}

// Fills in what virtual roots would have sent, after all broadcasts from real ones.
void FinishGathered(const PendingList& all) {
  GatheredBroadcasts gathered;
  for (const Pending& pending : all)
    if (GatheredBroadcasts::IsOne(pending.call)) gathered.Add(pending.call, pending.received);
  for (const Pending& pending : all) {
    const CollectiveCall& call = pending.call;
    if (!GatheredBroadcasts::IsOne(call) || HasNothingToFinish(pending) || !IsFromVirtualRoot(call))
      continue;
    const Part part = gathered.StandInFor(call);
    if (part.held) WriteToCard(call.taken, part);
  }
}

ncclResult_t FinishAll(PendingList* all) {
  ncclResult_t result = KeepCapturedLaunches(*all);
  for (Pending& pending : *all) {
    const ncclResult_t finished = Finish(&pending);
    if (result == ncclSuccess) result = finished;
  }
  FinishVirtual(*all);
  FinishGathered(*all);
  return result;
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
  PendingList one;
  one.push_back({.call = std::move(call)});
  const ncclResult_t begun = Begin(&one.front());
  return begun == ncclSuccess ? FinishAll(&one) : begun;
}

void StartGroup() { ++group_depth; }

ncclResult_t EndGroup() {
  if (group_depth == 0) return Fail(ncclInvalidUsage, "ncclGroupEnd: no group was started");
  if (--group_depth > 0) return ncclSuccess;
  PendingList all;
  for (CollectiveCall& call : std::exchange(grouped, {})) {
    all.push_back({.call = std::move(call)});
    const ncclResult_t begun = Begin(&all.back());
    if (begun != ncclSuccess) return begun;
  }
  return FinishAll(&all);
}

void SetOwnContribution(const DeviceRange& own) { own_contribution = own; }

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
