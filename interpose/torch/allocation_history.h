// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_ALLOCATION_HISTORY_H_
#define MEMTRACE_INTERPOSE_TORCH_ALLOCATION_HISTORY_H_

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/ApproximateClock.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/torch/device_history.h"
#include "interpose/torch/mempool_id.h"
#include "interpose/torch/ring_buffer.h"
#include "versioned_entries.h"

namespace memtrace::shim {

// torch's own history of allocations, over the changes that libmemtrace tells: what
// torch.cuda.memory._record_memory_history, _snapshot and attachAllocatorTraceTracker promise. It
// costs nothing until one of them is used; our own trace is recorded without it.
//
// Thread rule: any thread. Entries are made under the card's lock: trackers must not call the
// allocator, nor wait for Python's interpreter. One object a process, never destroyed.
class AllocationHistory {
 public:
  using Context = DeviceHistory::Context;
  using Entry = DeviceHistory::Entry;
  using Level = RecordContext;
  using Tracker = c10::cuda::CUDACachingAllocator::AllocatorTraceTracker;

  static AllocationHistory& Get();

  void SetDeviceCount(int count);

  // As CUDAAllocator::recordHistory.
  void Record(bool enabled, c10::cuda::CUDACachingAllocator::CreateContextFn create_context,
              std::size_t most_entries, Level level, bool clear,
              const std::vector<std::string>& skip_actions);
  bool is_recording() const { return is_recording_.load(std::memory_order_acquire); }

  // Hears of every event from now on. It cannot be removed.
  void Attach(Tracker tracker);

  // While it lives, events of this thread have the caller's stack, if the mode asks for one at
  // `level`. To be made before any lock is taken.
  class Caller {
   public:
    explicit Caller(Level level) {
      if (C10_UNLIKELY(asked.load(std::memory_order_acquire) >= level)) is_set_ = Take();
    }
    ~Caller() {
      if (C10_UNLIKELY(is_set_)) Drop();
    }
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

   private:
    static bool Take();
    static void Drop();

    bool is_set_ = false;
  };

  // An event that the allocator does not tell: a snapshot, an out-of-memory, an annotation.
  void Note(Entry::Action action, c10::DeviceIndex device, std::size_t address, std::size_t bytes,
            void* stream, MempoolId_t pool);

  // record_function's scopes.
  void Annotate(const std::vector<std::pair<std::string, std::string>>& facts);

  // What the calling thread says of its allocations from now on.
  static void PushCompileContext(std::string name);
  static void PopCompileContext();
  static void SetUserMetadata(std::string metadata);
  static std::string UserMetadata();

  // The stack of a block in use; null if it is not known.
  Context OfBlock(c10::DeviceIndex device, std::size_t address) const;
  // Puts events and stacks to the segments that are there already.
  void Complete(c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot, bool include_traces);

 private:
  using Trackers = std::vector<Tracker>;

  void WatchOnce();
  void Tell(const memtrace_change& change);
  void Tell(Entry entry);
  Entry MakeEntry(Entry::Action action, c10::DeviceIndex device, std::size_t address,
                  std::size_t bytes, void* stream, MempoolId_t pool, Context context) const;
  bool Skips(Entry::Action action) const;

  Mutex mutex_;  // guards changes of what follows
  bool is_watching_ = false;
  std::vector<std::unique_ptr<DeviceHistory>> devices_;  // fixed once CUDA is in use
  std::atomic<bool> is_recording_ = false;
  static inline std::atomic<Level> asked = Level::NEVER;
  std::atomic<c10::cuda::CUDACachingAllocator::CreateContextFn> create_context_ = nullptr;
  std::atomic<unsigned> skipped_ = 0;  // a bit an action
  // The list is replaced, never changed: it is read under the cards' locks, where no other may be
  // taken that a tracker's owner could hold. The old ones, one a call of torch's, are kept.
  std::atomic<const Trackers*> trackers_ = nullptr;
  mutable Mutex annotations_mutex_;
  RingBuffer<AnnotationEntry> annotations_;
  c10::ApproximateClockToUnixTimeConverter clock_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_ALLOCATION_HISTORY_H_
