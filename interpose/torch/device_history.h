// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_DEVICE_HISTORY_H_
#define MEMTRACE_INTERPOSE_TORCH_DEVICE_HISTORY_H_

#include <c10/cuda/CUDACachingAllocator.h>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "interpose/torch/ring_buffer.h"
#include "versioned_entries.h"

namespace memtrace::shim {

// One card's part of torch.cuda.memory._record_memory_history: the latest events, and the stacks of
// blocks in use. The rules are torch's: a block keeps a stack from mode "state" on, an event from
// "alloc" on; an event of a free has its caller's stack, or else the allocation's. Segments in
// snapshots have no stack: torch's lose theirs as soon as their first block is split, which is at
// once.
//
// Thread rule: any thread. Its lock is taken under the card's, and nothing is called under it.
class DeviceHistory {
 public:
  using Context = std::shared_ptr<c10::GatheredContext>;
  using Entry = TraceEntry;

  void SetCapacity(std::size_t most_entries);
  void Clear();

  // Returns the stack that an event shows: `callers`, or the block's known stack. An allocation is
  // remembered with `callers`; a completed free forgets the block.
  Context ContextOf(Entry::Action action, std::size_t address, const Context& callers);

  void Add(Entry entry);
  std::vector<Entry> Entries() const;

  // Returns the stack of the block in use that starts at `address`; null if it is not known.
  Context OfBlock(std::size_t address) const;

 private:
  mutable Mutex mutex_;
  RingBuffer<Entry> entries_;
  std::unordered_map<std::size_t, Context> blocks_;  // in use, by address
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_DEVICE_HISTORY_H_
