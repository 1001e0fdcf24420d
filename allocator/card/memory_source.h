// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CARD_MEMORY_SOURCE_H_
#define MEMTRACE_ALLOCATOR_CARD_MEMORY_SOURCE_H_

#include "absl/status/statusor.h"
#include "base/units.h"

namespace memtrace {

// The source of a pool's memory if it is not the card's chunks: the allocator that the program
// passed to torch.cuda.MemPool(allocator). Called under the card's lock: it must not call our
// allocator.
class MemorySource {
 public:
  virtual ~MemorySource() = default;

  // Returns kResourceExhausted if no memory is left.
  virtual absl::StatusOr<DeviceAddress> Allocate(Bytes size, StreamId stream) = 0;
  virtual void Free(DeviceAddress address, Bytes size, StreamId stream) = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CARD_MEMORY_SOURCE_H_
