// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/allocate_with_room.h"

#include "interpose/core/process.h"
#include "interpose/core/room/launching_threads.h"

namespace memtrace {
namespace {

// Returns null unless the card was full.
const OutOfMemoryEvent* FailureOf(const AllocationResult& result) {
  const auto* failure = std::get_if<OutOfMemoryEvent>(&result);
  return failure == nullptr || failure->is_rejected ? nullptr : failure;
}

}  // namespace

AllocationResult AllocateWithRoom(CachingAllocator& allocator, AllocationRequest request) {
  Room& room = Process::Get().room();
  SpillPolicy& spill = Process::Get().spill_policy();
  LaunchingThreads::Note();
  const int device = static_cast<int>(allocator.device());
  request.may_be_repeated = !request.is_trial && (room.HasNeighbours(device) || spill.IsOn(device));
  AllocationResult result = allocator.Allocate(request);
  if (!request.may_be_repeated || FailureOf(result) == nullptr) return result;
  if (room.FromNeighbours(device, FailureOf(result)->allocated) > 0)
    result = allocator.Allocate(request);
  while (const OutOfMemoryEvent* failure = FailureOf(result)) {
    if (spill.MakeRoom(*failure) == 0) {
      allocator.accounts().ReportOutOfMemory(*failure);
      return result;
    }
    result = allocator.Allocate(request);
  }
  return result;
}

}  // namespace memtrace
