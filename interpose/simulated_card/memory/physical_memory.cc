// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/physical_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace memtrace::card {

Result PhysicalMemory::Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle,
                              bool exportable) {
  if (device < 0 || static_cast<std::size_t>(device) >= cards_.size())
    return Result::kInvalidDevice;
  if (!IsWholeGranules(bytes)) return Result::kInvalidValue;
  const MutexLock lock(mutex_);
  const bool is_charged = kind == ChargeKind::kHost
                              ? ChargeHost(bytes)
                              : cards_[static_cast<std::size_t>(device)]->Charge(kind, bytes);
  if (!is_charged) return Result::kOutOfMemory;
  *handle = next_++;
  PhysicalAllocation& made = allocations_[*handle];
  made.backing = {{file_.Extend(bytes), bytes}, device, kind};
  made.exportable = exportable;
  return Result::kSuccess;
}

bool PhysicalMemory::ChargeHost(std::uint64_t bytes) {
  if (bytes > host_.limit - host_.bytes) return false;
  host_.bytes += bytes;
  host_.peak = std::max(host_.peak, host_.bytes);
  has_host_ = true;
  return true;
}

void PhysicalMemory::SetHostLimit(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  host_.limit = bytes;
}

HostLocated PhysicalMemory::host_located() const {
  const MutexLock lock(mutex_);
  return host_;
}

Result PhysicalMemory::Release(HandleId handle) {
  const MutexLock lock(mutex_);
  if (FindReferenced(handle) == nullptr) return Result::kInvalidValue;
  --allocations_.at(handle).references;
  DropIfUnused(handle);
  return Result::kSuccess;
}

Result PhysicalMemory::Retain(HandleId handle) {
  const MutexLock lock(mutex_);
  const auto found = allocations_.find(handle);
  if (found == allocations_.end()) return Result::kInvalidValue;
  ++found->second.references;
  return Result::kSuccess;
}

Result PhysicalMemory::DeviceOf(HandleId handle, int* device, ChargeKind* kind) const {
  const MutexLock lock(mutex_);
  const PhysicalAllocation* allocation = FindReferenced(handle);
  if (allocation == nullptr) return Result::kInvalidValue;
  *device = allocation->backing.device;
  *kind = allocation->backing.kind;
  return Result::kSuccess;
}

Extent PhysicalMemory::ContentsOf(HandleId handle) const {
  const MutexLock lock(mutex_);
  const PhysicalAllocation* allocation = FindReferenced(handle);
  return allocation == nullptr ? Extent{} : allocation->backing.contents;
}

Result PhysicalMemory::Describe(HandleId handle, SharedMemoryRecord* record) {
  const MutexLock lock(mutex_);
  return DescribeLocked(allocations_.at(handle), record);
}

Result PhysicalMemory::DescribeLocked(const PhysicalAllocation& allocation,
                                      SharedMemoryRecord* record) {
  const Backing& backing = allocation.backing;
  *record = {.magic = kSharedMemoryMagic, .bytes = backing.contents.bytes};
  record->card = cards_[static_cast<std::size_t>(backing.device)]->sharing().LedgerIndex();
  return file_.Share(backing.contents.offset, record) ? Result::kSuccess : Result::kMapFailed;
}

Result PhysicalMemory::Export(HandleId handle, int* descriptor) {
  const MutexLock lock(mutex_);
  if (FindReferenced(handle) == nullptr) return Result::kInvalidValue;
  PhysicalAllocation& allocation = allocations_.at(handle);
  if (!allocation.exportable) return Result::kInvalidValue;
  if (!allocation.imported && allocation.lent < 0) {
    const Result described = DescribeLocked(allocation, &allocation.record);
    if (described != Result::kSuccess) return described;
    const Card& card = *cards_[static_cast<std::size_t>(allocation.backing.device)];
    allocation.lent = card.sharing().Lend(allocation.record);
  }
  const int own = allocation.imported ? allocation.received->descriptor() : allocation.lent;
  *descriptor = fcntl(own, F_DUPFD_CLOEXEC, 0);
  return *descriptor < 0 ? Result::kOperatingSystem : Result::kSuccess;
}

// Returns -1 if this process does not have the card.
int PhysicalMemory::DeviceOfCard(std::uint32_t card) const {
  const auto has_card = [card](const auto& ours) { return ours->sharing().LedgerIndex() == card; };
  const auto found = std::find_if(cards_.begin(), cards_.end(), has_card);
  return found == cards_.end() ? -1 : static_cast<int>(found - cards_.begin());
}

Result PhysicalMemory::Import(int descriptor, HandleId* handle) {
  const std::optional<SharedMemoryRecord> record = ReadRecord(descriptor);
  if (!record.has_value()) return Result::kInvalidValue;
  const int device = DeviceOfCard(record->card);
  if (device < 0) return Result::kNotSupported;
  const MutexLock lock(mutex_);
  if (record->process == getpid()) *handle = RetainOwn(*record);
  if (record->process == getpid() && *handle != 0) return Result::kSuccess;
  auto received = std::make_shared<const OpenFile>(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (received->descriptor() < 0) return Result::kOperatingSystem;
  return ImportLocked(*record, device, ChargeKind::kVmm, std::move(received), handle);
}

Result PhysicalMemory::Attach(const SharedMemoryRecord& record, int device, HandleId* handle) {
  const MutexLock lock(mutex_);
  return ImportLocked(record, device, ChargeKind::kRuntime, nullptr, handle);
}

// `received` may be null.
Result PhysicalMemory::ImportLocked(const SharedMemoryRecord& record, int device, ChargeKind kind,
                                    OpenFilePointer received, HandleId* handle) {
  const std::optional<std::uint64_t> offset = file_.Attach(record);
  if (!offset.has_value()) return Result::kMapFailed;
  *handle = next_++;
  PhysicalAllocation& made = allocations_[*handle];
  made.backing = {{*offset, record.bytes}, device, kind};
  made.exportable = received != nullptr;
  made.imported = true;
  made.record = record;
  made.received = std::move(received);
  return Result::kSuccess;
}

// Adds a reference to this process's own memory that the record describes, and returns it; 0: none.
HandleId PhysicalMemory::RetainOwn(const SharedMemoryRecord& record) {
  for (auto& [handle, allocation] : allocations_) {
    const SharedMemoryRecord& own = allocation.record;
    if (allocation.lent < 0 || own.inode != record.inode || own.offset != record.offset) continue;
    ++allocation.references;
    return handle;
  }
  return 0;
}

// Returns null once all references are gone, even while mappings keep the memory.
const PhysicalAllocation* PhysicalMemory::FindReferenced(HandleId handle) const {
  const auto found = allocations_.find(handle);
  if (found == allocations_.end() || found->second.references == 0) return nullptr;
  return &found->second;
}

std::size_t PhysicalMemory::Count() const {
  const MutexLock lock(mutex_);
  return allocations_.size();
}

Result PhysicalMemory::AddMapping(HandleId handle, Backing* backing) {
  const MutexLock lock(mutex_);
  if (FindReferenced(handle) == nullptr) return Result::kInvalidValue;
  PhysicalAllocation& allocation = allocations_.at(handle);
  ++allocation.mappings;
  *backing = allocation.backing;
  return Result::kSuccess;
}

void PhysicalMemory::RemoveMapping(HandleId handle) {
  const MutexLock lock(mutex_);
  --allocations_.at(handle).mappings;
  DropIfUnused(handle);
}

void PhysicalMemory::DropIfUnused(HandleId handle) {
  const auto found = allocations_.find(handle);
  const PhysicalAllocation& allocation = found->second;
  if (allocation.references > 0 || allocation.mappings > 0) return;
  if (allocation.imported) {
    file_.Detach(allocation.backing.contents.offset);
  } else {
    GiveBack(allocation);
  }
  allocations_.erase(found);
}

void PhysicalMemory::GiveBack(const PhysicalAllocation& allocation) {
  const Backing& backing = allocation.backing;
  Card& card = *cards_[static_cast<std::size_t>(backing.device)];
  const bool is_ours_alone =
      allocation.lent < 0 || card.sharing().Reclaim(allocation.record, allocation.lent);
  // If clearing fails, only the host's pages are freed later: the offset is never handed out again.
  if (is_ours_alone) file_.Clear(backing.contents);
  card.Discharge(backing.kind, backing.contents.bytes);
  if (backing.kind == ChargeKind::kHost) host_.bytes -= backing.contents.bytes;
  has_host_ = host_.bytes > 0;
}

}  // namespace memtrace::card
