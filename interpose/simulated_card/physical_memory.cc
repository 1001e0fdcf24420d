// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/physical_memory.h"

namespace memtrace::card {

Result PhysicalMemory::Create(int device, std::uint64_t bytes, ChargeKind kind, HandleId* handle) {
  if (!cards_[static_cast<std::size_t>(device)]->Charge(kind, bytes)) return Result::kOutOfMemory;
  *handle = next_++;
  allocations_.emplace(
      *handle, PhysicalAllocation{
                   .bytes = bytes, .offset = file_.Extend(bytes), .device = device, .kind = kind});
  return Result::kSuccess;
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
  // A failure to clear only delays the host's pages: the offset is never handed out again.
  file_.Clear(allocation.offset, allocation.bytes);
  cards_[static_cast<std::size_t>(allocation.device)]->Discharge(allocation.kind, allocation.bytes);
  allocations_.erase(found);
}

}  // namespace memtrace::card
