// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_SERVED_CARD_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_SERVED_CARD_H_

#include <memory>
#include <optional>

#include "allocator/cuda/open_card.h"
#include "allocator/heap/caching_allocator.h"
#include "interpose/core/outside/card_reader.h"
#include "interpose/core/outside/observed_memory.h"

namespace memtrace {

// One card as this process uses it: the driver's side, the reader of its figures, and either our
// allocator that serves its memory or the observer of another allocator.
//
// Thread rule: any thread, once it is made.
struct ServedCard {
  OpenedCard driver;
  std::unique_ptr<CardReader> reader;
  std::unique_ptr<CachingAllocator> allocator;  // mode ALLOCATE
  std::unique_ptr<ObservedMemory> observed;     // the other modes
  bool is_alone = false;                        // mode OUTSIDE: no allocator is watched

  // Returns nothing for a real card without a context of ours, because a query would create one,
  // and nothing if the driver does not answer, as may happen at exit. `outside`: bytes taken beside
  // the allocator.
  std::optional<trace::CardLedger> Ledger(Bytes outside) const;

  // Once the card has a context, records the bytes in use by then, for later ledgers.
  void LookOnFirstUse() const {
    if (!reader->has_looked()) LookNow();
  }

  AllocatorLedger allocator_ledger() const {
    return allocator != nullptr ? allocator->accounts().ledger() : observed->ledger();
  }

 private:
  void LookNow() const;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_SERVED_CARD_H_
