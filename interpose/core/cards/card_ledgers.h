// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_CARD_LEDGERS_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_CARD_LEDGERS_H_

#include <atomic>
#include <span>
#include <vector>

#include "interpose/core/cards/served_card.h"
#include "interpose/core/outside/outside_memory.h"
#include "profiler/recorder/recorder.h"

namespace memtrace {

// Accounts for the memory of the cards, including memory taken beside their allocators, and writes
// it into the trace. Without a recorder the samples are not written.
//
// Thread rule: any thread. No lock of ours or of an allocator may be held.
class CardLedgers {
 public:
  // Both arguments must outlive this object.
  CardLedgers(const std::atomic<recorder::Recorder*>& recorder, const OutsideMemory& outside)
      : recorder_(recorder), outside_(outside) {}

  std::optional<trace::CardLedger> Of(const ServedCard& card) const {
    return card.Ledger(OutsideOn(card));
  }
  // Returns the ledgers at an out-of-memory. For the failing card they have the event's figures,
  // because other threads may have freed memory since.
  std::vector<trace::CardLedger> At(const OutOfMemoryEvent& event,
                                    std::span<const ServedCard> cards) const;

  // Writes the ledger of a card into the trace.
  void Sample(const ServedCard& card) const;
  // Writes which processes of this launch hold memory that the ledger counts as other processes'.
  void RecordOtherProcesses(const trace::CardLedger& ledger, const CardReader& reader) const;

 private:
  // Returns 0 for a card without an allocator: its outside memory already counts as blocks of the
  // card.
  Bytes OutsideOn(const ServedCard& card) const {
    return card.is_alone ? 0 : outside_.on_card(card.reader->device());
  }

  const std::atomic<recorder::Recorder*>& recorder_;
  const OutsideMemory& outside_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_CARD_LEDGERS_H_
