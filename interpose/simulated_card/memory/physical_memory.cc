// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/physical_memory.h"

#include <fcntl.h>

#include <optional>
#include <utility>

namespace memtrace::card {

Result PhysicalMemory::Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                              bool exportable) {
  if (!cards_[static_cast<std::size_t>(device)]->Charge(kind, bytes)) return Result::kOutOfMemory;
  *handle = next_++;
  PhysicalAllocation& made = allocations_[*handle];
  made.bytes = bytes;
  made.offset = file_.Extend(bytes);
  made.device = device;
  made.kind = kind;
  made.exportable = exportable;
  return Result::kSuccess;
}

Result PhysicalMemory::Describe(HandleId handle, SharedMemoryRecord* record) {
  const PhysicalAllocation& allocation = allocations_.at(handle);
  *record = {.magic = kSharedMemoryMagic, .bytes = allocation.bytes};
  record->card = cards_[static_cast<std::size_t>(allocation.device)]->sharing().LedgerIndex();
  return file_.Share(allocation.offset, record) ? Result::kSuccess : Result::kMapFailed;
}

Result PhysicalMemory::Export(HandleId handle, int* descriptor) {
  if (FindReferenced(handle) == nullptr) return Result::kInvalidValue;
  PhysicalAllocation& allocation = allocations_.at(handle);
  if (!allocation.exportable) return Result::kInvalidValue;
  if (!allocation.imported && allocation.lent < 0) {
    const Result described = Describe(handle, &allocation.record);
    if (described != Result::kSuccess) return described;
    Card& card = *cards_[static_cast<std::size_t>(allocation.device)];
    allocation.lent = card.sharing().Lend(allocation.record);
  }
  const int own = allocation.imported ? allocation.received->descriptor() : allocation.lent;
  *descriptor = fcntl(own, F_DUPFD_CLOEXEC, 0);
  return *descriptor < 0 ? Result::kOperatingSystem : Result::kSuccess;
}

Result PhysicalMemory::Import(const SharedMemoryRecord& record, int device, ChargeKind kind,
                              OpenFilePointer received, HandleId* handle) {
  const std::optional<std::uint64_t> offset = file_.Attach(record);
  if (!offset.has_value()) return Result::kMapFailed;
  *handle = next_++;
  PhysicalAllocation& made = allocations_[*handle];
  made.bytes = record.bytes;
  made.offset = *offset;
  made.device = device;
  made.kind = kind;
  made.exportable = received != nullptr;
  made.imported = true;
  made.record = record;
  made.received = std::move(received);
  return Result::kSuccess;
}

HandleId PhysicalMemory::RetainOwn(const SharedMemoryRecord& record) {
  for (auto& [handle, allocation] : allocations_) {
    const SharedMemoryRecord& own = allocation.record;
    if (allocation.lent < 0 || own.inode != record.inode || own.offset != record.offset) continue;
    ++allocation.references;
    return handle;
  }
  return 0;
}

const PhysicalAllocation* PhysicalMemory::FindReferenced(HandleId handle) const {
  const auto found = allocations_.find(handle);
  if (found == allocations_.end() || found->second.references == 0) return nullptr;
  return &found->second;
}

Result PhysicalMemory::Release(HandleId handle) {
  if (FindReferenced(handle) == nullptr) return Result::kInvalidValue;
  --allocations_.at(handle).references;
  DropIfUnused(handle);
  return Result::kSuccess;
}

Result PhysicalMemory::Retain(HandleId handle) {
  const auto found = allocations_.find(handle);
  if (found == allocations_.end()) return Result::kInvalidValue;
  ++found->second.references;
  return Result::kSuccess;
}

void PhysicalMemory::RemoveMapping(HandleId handle) {
  --allocations_.at(handle).mappings;
  DropIfUnused(handle);
}

void PhysicalMemory::DropIfUnused(HandleId handle) {
  const auto found = allocations_.find(handle);
  const PhysicalAllocation& allocation = found->second;
  if (allocation.references > 0 || allocation.mappings > 0) return;
  if (allocation.imported) {
    file_.Detach(allocation.offset);
  } else {
    GiveBack(allocation);
  }
  allocations_.erase(found);
}

void PhysicalMemory::GiveBack(const PhysicalAllocation& allocation) {
  Card& card = *cards_[static_cast<std::size_t>(allocation.device)];
  const bool is_ours_alone =
      allocation.lent < 0 || card.sharing().Reclaim(allocation.record, allocation.lent);
  // A failure to clear only delays the host's pages: the offset is never handed out again.
  if (is_ours_alone) file_.Clear(allocation.offset, allocation.bytes);
  card.Discharge(allocation.kind, allocation.bytes);
}

}  // namespace memtrace::card
