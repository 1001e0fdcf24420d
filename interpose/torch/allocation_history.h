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

// Implements torch's own history of allocations with the changes that libmemtrace reports:
// torch.cuda.memory._record_memory_history, _snapshot and attachAllocatorTraceTracker. It costs
// nothing until one of them is used; our own trace is recorded without it.
//
// Thread rule: any thread. Entries are made under the card's lock: trackers must not call the
// allocator, nor wait for Python's interpreter. There is one object a process, never destroyed.
class AllocationHistory {
 public:
  using Context = DeviceHistory::Context;
  using Entry = DeviceHistory::Entry;
  using Level = RecordContext;
  using Tracker = c10::cuda::CUDACachingAllocator::AllocatorTraceTracker;

  static AllocationHistory& Get();

  void SetDeviceCount(int count);

  // Implements CUDAAllocator::recordHistory.
  void Record(bool enabled, c10::cuda::CUDACachingAllocator::CreateContextFn create_context,
              std::size_t most_entries, Level level, bool clear,
              const std::vector<std::string>& skip_actions);
  bool is_recording() const { return is_recording_.load(std::memory_order_acquire); }

  // From now on, tells `tracker` of every event. It cannot be removed.
  void Attach(Tracker tracker);

  // While it lives, events of this thread have the caller's stack if the mode requests one at
  // `level`. Make it before any lock is taken.
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

  // Adds an event that the allocator does not report: a snapshot, an out-of-memory, an annotation.
  void Note(Entry::Action action, c10::DeviceIndex device, std::size_t address, std::size_t bytes,
            void* stream, MempoolId_t pool);

  // Adds the scopes of record_function.
  void Annotate(const std::vector<std::pair<std::string, std::string>>& facts);

  // These describe the calling thread's allocations from now on.
  static void PushCompileContext(std::string name);
  static void PopCompileContext();
  static void SetUserMetadata(std::string metadata);
  static std::string UserMetadata();

  // Returns the stack of a block in use; null if it is not known.
  Context OfBlock(c10::DeviceIndex device, std::size_t address) const;
  // Adds events and stacks to the segments that the snapshot already has.
  void Complete(c10::cuda::CUDACachingAllocator::SnapshotInfo& snapshot, bool include_traces);

 private:
  using Trackers = std::vector<Tracker>;

  void WatchOnce();
  void Report(const memtrace_change& change);
  void Report(Entry entry);
  Entry MakeEntry(Entry::Action action, c10::DeviceIndex device, std::size_t address,
                  std::size_t bytes, void* stream, MempoolId_t pool, Context context) const;
  bool Skips(Entry::Action action) const;

  Mutex mutex_;  // guards changes of the members below
  bool is_watching_ = false;
  std::vector<std::unique_ptr<DeviceHistory>> devices_;  // fixed once CUDA is in use
  std::atomic<bool> is_recording_ = false;
  static inline std::atomic<Level> asked = Level::NEVER;
  std::atomic<c10::cuda::CUDACachingAllocator::CreateContextFn> create_context_ = nullptr;
  std::atomic<unsigned> skipped_ = 0;  // one bit for each action
  // The list is replaced, never changed, because it is read under the cards' locks, where no other
  // lock may be taken that a tracker's owner could hold. Old lists, one for each call of torch, are
  // kept.
  std::atomic<const Trackers*> trackers_ = nullptr;
  mutable Mutex annotations_mutex_;
  RingBuffer<AnnotationEntry> annotations_;
  c10::ApproximateClockToUnixTimeConverter clock_;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_ALLOCATION_HISTORY_H_
