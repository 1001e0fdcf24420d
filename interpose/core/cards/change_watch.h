// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_CHANGE_WATCH_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_CHANGE_WATCH_H_

#include <atomic>

#include "allocator/accounts/allocation_observer.h"
#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/outside/card_of_address.h"

namespace memtrace {

// Passes the allocators' events on to the recorder and also to memtrace_watch's function once there
// is one. Until then it costs one load an event.
//
// Thread rule: any thread.
class ChangeWatch final : public AllocationObserver {
 public:
  ChangeWatch() { SetObservesBlocks(false); }

  using Function = void (*)(void* user, const memtrace_change* change);

  // `next` is told of everything first and must outlive this. Call this before any event, or never.
  void SetNext(AllocationObserver* next) {
    next_ = next;
    SetObservesBlocks(true);
  }

  // Returns false if there is a function already.
  bool Watch(Function function, void* user);

  // Returns the card that has a segment at the address; -1 if there is none.
  int CardOf(DeviceAddress address) const { return cards_.Find(address); }

  // Implements AllocationObserver.
  void Allocated(const BlockEvent& block) override;
  void FreeRequested(const BlockEvent& block) override;
  void FreeCompleted(const BlockEvent& block) override;
  void Freed(const BlockEvent& block) override;
  void Reserved(const RangeEvent& range) override;
  void Mapped(const RangeEvent& range) override;
  void Unmapped(const RangeEvent& range) override;
  void OutOfMemory(const OutOfMemoryEvent& event) override;

 private:
  template <typename Event>  // an event of a block or of a range
  void Notify(memtrace_change_kind kind, const Event& event, Bytes bytes) const;

  AllocationObserver* next_ = nullptr;
  CardOfAddress cards_;
  std::atomic<bool> is_watched_ = false;  // once true, the members below no longer change
  Mutex mutex_;
  Function function_ = nullptr;  // written under mutex_
  void* user_ = nullptr;         // likewise
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_CHANGE_WATCH_H_
