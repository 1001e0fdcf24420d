// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CHANGE_WATCH_H_
#define MEMTRACE_INTERPOSE_CORE_CHANGE_WATCH_H_

#include <atomic>

#include "allocator/accounts/allocation_observer.h"
#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/outside/card_of_address.h"

namespace memtrace {

// Stands between the allocators and the recorder and tells memtrace_watch's function, too, once
// there is one. Until then an event costs one load more.
//
// Thread rule: any thread.
class ChangeWatch final : public AllocationObserver {
 public:
  ChangeWatch() { HearOfBlocks(false); }

  using Function = void (*)(void* user, const memtrace_change* change);

  // `next` hears of everything first. It outlives this; to be called before any event, or never.
  void PassTo(AllocationObserver* next) {
    next_ = next;
    HearOfBlocks(true);
  }

  // False if there is a function already.
  bool Watch(Function function, void* user);

  // The card whose segment an address lies in; -1 if it is in none.
  int CardOf(DeviceAddress address) const { return cards_.Find(address); }

  // AllocationObserver.
  void Allocated(const BlockEvent& block) override;
  void FreeRequested(const BlockEvent& block) override;
  void FreeCompleted(const BlockEvent& block) override;
  void Freed(const BlockEvent& block) override;
  void Reserved(const RangeEvent& range) override;
  void Mapped(const RangeEvent& range) override;
  void Unmapped(const RangeEvent& range) override;
  void OutOfMemory(const OutOfMemoryEvent& event) override;

 private:
  template <typename Event>  // of a block or of a range
  void Tell(memtrace_change_kind kind, const Event& event, Bytes bytes) const;

  AllocationObserver* next_ = nullptr;
  CardOfAddress cards_;
  std::atomic<bool> is_watched_ = false;  // once true, what follows is fixed
  Mutex mutex_;
  Function function_ = nullptr;  // written under mutex_
  void* user_ = nullptr;         // likewise
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CHANGE_WATCH_H_
