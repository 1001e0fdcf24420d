// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_SHARED_MEMORY_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_SHARED_MEMORY_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/cuda/imported_memory.h"
#include "base/mutex.h"
#include "base/units.h"
#include "interpose/core/abi/block_exchange.h"
#include "interpose/core/memtrace.h"

namespace memtrace {

// Blocks of this process that others may map, and blocks of others that this one has mapped. There
// is one a process, never destroyed. Any thread.
class SharedMemory {
 public:
  static SharedMemory& Get();

  // Describes the block in use that contains `address`, so that another process can map it.
  // kUnimplemented if its memory comes from a pool's own allocator.
  absl::StatusOr<memtrace_shared_block> Share(int device, DeviceAddress address);

  // Maps a block of another process for a card of this one; the result is where `base` is mapped.
  absl::StatusOr<DeviceAddress> Open(const memtrace_shared_block& block, int device);

  // kNotFound if Open() did not return `address` or it has been closed.
  absl::Status Close(DeviceAddress address);

 private:
  BlockServer server_;
  Mutex mutex_;
  absl::flat_hash_map<DeviceAddress, std::unique_ptr<ImportedMemory>> opened_;  // guarded by mutex_
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_SHARED_MEMORY_H_
