// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/imported_blocks.h"

#include <unistd.h>

#include "base/mutex.h"

namespace memtrace::card {

Result ImportedBlocks::Open(const SharedMemoryRecord& record, int device, Address* begin) {
  const bool is_handle = record.magic == kSharedMemoryMagic && record.bytes > 0 &&
                         record.bytes % kGranularity == 0 && record.block < record.bytes;
  if (!is_handle) return Result::kInvalidHandle;
  if (record.process == getpid()) return Result::kInvalidContext;
  if (record.card != cards_[static_cast<std::size_t>(device)]->sharing().LedgerIndex())
    return Result::kPeerAccessUnsupported;
  const MutexLock lock(mutex_);
  const Key key(record.inode, record.offset);
  auto found = mapped_.find(key);
  if (found == mapped_.end()) {
    Mapped mapped;
    const Result result = Map(record, device, &mapped);
    if (result != Result::kSuccess) return result;
    found = mapped_.emplace(key, mapped).first;
  }
  ++found->second.opened;
  *begin = found->second.begin + record.block;
  return Result::kSuccess;
}

Result ImportedBlocks::Map(const SharedMemoryRecord& record, int device, Mapped* mapped) {
  HandleId handle = 0;
  const Result attached = space_.physical().Attach(record, device, &handle);
  if (attached != Result::kSuccess) return attached;
  const Result reserved = space_.Reserve(record.bytes, kGranularity, Address(), &mapped->begin);
  if (reserved == Result::kSuccess) {
    mapped->bytes = record.bytes;
    space_.Map(mapped->begin, record.bytes, 0, handle);
    space_.SetAccess(mapped->begin, record.bytes, device, Access::kReadWrite);
  }
  // The mapping keeps the memory alive; if there is none, this ends it.
  space_.physical().Release(handle);
  return reserved;
}

Result ImportedBlocks::Close(Address address) {
  const MutexLock lock(mutex_);
  for (auto at = mapped_.begin(); at != mapped_.end(); ++at) {
    Mapped& mapped = at->second;
    if (address < mapped.begin || address - mapped.begin >= mapped.bytes) continue;
    if (--mapped.opened > 0) return Result::kSuccess;
    space_.Unmap(mapped.begin, mapped.bytes);
    space_.FreeReservation(mapped.begin, mapped.bytes);
    mapped_.erase(at);
    return Result::kSuccess;
  }
  return Result::kInvalidValue;
}

}  // namespace memtrace::card
