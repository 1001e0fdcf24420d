// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_PROCESS_CARDS_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_PROCESS_CARDS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "interpose/core/cards/card_ledgers.h"
#include "interpose/core/cards/change_watch.h"
#include "interpose/core/cards/served_card.h"
#include "interpose/core/memtrace.h"

namespace memtrace {

// The cards of this process and the allocator or observer of each. There are none before Open() and
// none in a child forked after Open(). In mode OUTSIDE, which may come before another mode, the
// cards are a set of their own and serve nothing.
//
// Thread rule: any thread, except that Open() needs its caller's lock.
class ProcessCards {
 public:
  // `ledgers` must outlive this object. `on_first_use` is called once for each card of our
  // allocator when it has come into use.
  ProcessCards(const CardLedgers& ledgers, std::function<void(int device)> on_first_use)
      : ledgers_(ledgers), on_first_use_(std::move(on_first_use)) {}

  // Opens the driver's cards 0 to `device_count` - 1 and makes allocators (with `options`, apart
  // from those that belong to a card) or observers, which report to `observer`. Errors: those of
  // OpenCard.
  absl::Status Open(int device_count, memtrace_mode mode, const HeapOptions& options,
                    AllocationObserver* observer);

  // Null if there is no such card or if another allocator serves the process.
  CachingAllocator* allocator(int device) const {
    return HasCard(device) ? cards_[static_cast<size_t>(device)].allocator.get() : nullptr;
  }
  // Returns the allocator that owns `address`. If there is only one card, that card's allocator,
  // for any address.
  CachingAllocator* owner_of(DeviceAddress address) const {
    CachingAllocator* only = only_.load(std::memory_order_acquire);
    return only != nullptr ? only : allocator(watch_.CardOf(address));
  }
  // Returns allocator() after LookOnFirstUse(). For the first card this is one load from the second
  // call on.
  CachingAllocator* allocator_in_use(int device) {
    CachingAllocator* quick = device == 0 ? first_in_use_.load(std::memory_order_acquire) : nullptr;
    return quick != nullptr ? quick : LookAndGet(device);
  }
  // Returns allocator_in_use() for the quick search of free memory; null if a movable owner's
  // memory is requested, which it does not find. Until a process has such an owner, this is one
  // load for the first card.
  template <typename IsMovable>
  CachingAllocator* allocator_for_free_memory(int device, IsMovable is_movable) {
    CachingAllocator* quick = device == 0 ? first_in_use_.load(std::memory_order_acquire) : nullptr;
    if (quick != nullptr) return quick;
    return is_movable() ? nullptr : LookAndGet(device);
  }
  // From now on it matters which owner's memory a thread requests, or that it does, so the shortcut
  // of the first card is not used.
  void UseNoShortcut() {
    has_movable_.store(true);
    first_in_use_.store(nullptr);
  }
  // Returns the figures of another allocator; null in mode ALLOCATE.
  ObservedMemory* observed(int device) const {
    return HasCard(device) ? cards_[static_cast<size_t>(device)].observed.get() : nullptr;
  }
  // Returns the figures of a card in mode OUTSIDE; null in other modes.
  ObservedMemory* alone(int device) const;

  // Receives the allocators' events, for the recorder and memtrace_watch's function.
  ChangeWatch& watch() { return watch_; }

  // Call this when a card may have come into use; it is cheap from the second time on. The first
  // look after the card has its context writes a sample; there is none before.
  void LookOnFirstUse(int device) {
    if (HasCard(device) && !cards_[static_cast<size_t>(device)].reader->has_looked())
      LookNow(cards_[static_cast<size_t>(device)]);
  }

  // Returns the cards that serve or observe; if there are none, those of mode OUTSIDE.
  const std::vector<ServedCard>& all() const { return is_started() ? cards_ : outside_cards_; }
  int device_count() const {
    return is_started() && !is_forked() ? static_cast<int>(cards_.size()) : 0;
  }
  bool is_started() const { return started_.load(std::memory_order_acquire); }
  bool is_outside_started() const { return outside_started_.load(std::memory_order_acquire); }
  // True if the process was forked from one that had started, in any mode.
  bool is_forked() const { return forked_.load(std::memory_order_acquire); }
  // Forgets the cards in the child of a fork, before anything else runs there.
  void AbandonInForkedChild();

  // Returns how many blocks on all cards were placed as planned.
  PlanUse plan_use() const;

 private:
  CachingAllocator* LookAndGet(int device);
  void LookNow(const ServedCard& card);
  bool HasCard(int device) const { return device >= 0 && device < device_count(); }

  const CardLedgers& ledgers_;
  const std::function<void(int)> on_first_use_;
  ChangeWatch watch_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> forked_ = false;
  std::vector<ServedCard> cards_;  // fixed once started_ is true
  std::atomic<bool> outside_started_ = false;
  // The cards of mode OUTSIDE; fixed once outside_started_ is true.
  std::vector<ServedCard> outside_cards_;
  // Shortcuts for every allocation and free. Null as long as something remains to be looked at.
  std::atomic<CachingAllocator*> only_ = nullptr;          // the only card's
  std::atomic<CachingAllocator*> first_in_use_ = nullptr;  // card 0's
  std::atomic<bool> has_movable_ = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_PROCESS_CARDS_H_
