// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROCESS_CARDS_H_
#define MEMTRACE_INTERPOSE_CORE_PROCESS_CARDS_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "interpose/core/card_ledgers.h"
#include "interpose/core/change_watch.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/served_card.h"

namespace memtrace {

// The cards of this process and who serves their memory. There are none before Open() and none in a
// process that was forked from one that had opened them. In mode OUTSIDE, which may come before
// another mode, the cards are a set of their own and serve nothing.
//
// Thread rule: any thread, but Open() under its caller's lock.
class ProcessCards {
 public:
  // `ledgers` outlives it.
  explicit ProcessCards(const CardLedgers& ledgers) : ledgers_(ledgers) {}

  // Opens the driver's cards 0 to `device_count` - 1 and makes allocators (with `plan`, which may
  // be null) or observers, which tell `observer` of what they see. Errors: as of OpenCard.
  absl::Status Open(int device_count, memtrace_mode mode, const std::shared_ptr<const Plan>& plan,
                    AllocationObserver* observer);

  // Null if there is no such card, or another allocator serves the process.
  CachingAllocator* allocator(int device) const {
    return HasCard(device) ? cards_[static_cast<size_t>(device)].allocator.get() : nullptr;
  }
  // The allocator whose memory `address` is; of one card alone, whatever the address.
  CachingAllocator* owner_of(DeviceAddress address) const {
    CachingAllocator* only = only_.load(std::memory_order_acquire);
    return only != nullptr ? only : allocator(watch_.CardOf(address));
  }
  // allocator(), after LookAtStart(): of the first card in one load, from the second time on.
  CachingAllocator* allocator_in_use(int device) {
    CachingAllocator* quick = device == 0 ? first_in_use_.load(std::memory_order_acquire) : nullptr;
    return quick != nullptr ? quick : LookAndGet(device);
  }
  // The figures of another allocator; null in mode ALLOCATE.
  ObservedMemory* observed(int device) const {
    return HasCard(device) ? cards_[static_cast<size_t>(device)].observed.get() : nullptr;
  }
  // The figures of a card of a process in mode OUTSIDE; null in others.
  ObservedMemory* alone(int device) const;

  // Who hears of what the allocators do: the recorder and memtrace_watch's function.
  ChangeWatch& watch() { return watch_; }

  // To be called when a card may have come into use; costs nothing from the second time on. The
  // first look after the card has its context writes a sample: those before have none.
  void LookAtStart(int device) {
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
  // True if the process was forked from one that had started, in whatever mode.
  bool is_forked() const { return forked_.load(std::memory_order_acquire); }
  // Forgets the cards in the child of a fork, before anything else runs there.
  void AbandonInForkedChild();

  // How many blocks lie where the plan has them, on all cards.
  PlanUse plan_use() const;

 private:
  CachingAllocator* LookAndGet(int device);
  void LookNow(const ServedCard& card);
  bool HasCard(int device) const { return device >= 0 && device < device_count(); }

  const CardLedgers& ledgers_;
  ChangeWatch watch_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> forked_ = false;
  std::vector<ServedCard> cards_;  // fixed once started_ is true
  std::atomic<bool> outside_started_ = false;
  std::vector<ServedCard> outside_cards_;  // of mode OUTSIDE; fixed once outside_started_ is true
  // For the way of every allocation and free. Null while there is more to be looked at.
  std::atomic<CachingAllocator*> only_ = nullptr;          // of the only card
  std::atomic<CachingAllocator*> first_in_use_ = nullptr;  // of card 0
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROCESS_CARDS_H_
