// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/card_ledgers.h"

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {

std::vector<trace::CardLedger> CardLedgers::At(const OutOfMemoryEvent& event,
                                               std::span<const ServedCard> cards) const {
  std::vector<trace::CardLedger> ledgers;
  for (const ServedCard& card : cards) {
    if (card.reader->device() == static_cast<int>(event.device)) {
      const DeviceMemory then{.free = event.device_free, .total = event.device_total};
      ledgers.push_back(card.reader->Read(event.ledger, OutsideOn(card), then));
    } else if (const auto ledger = Of(card)) {
      ledgers.push_back(*ledger);
    }
  }
  return ledgers;
}

void CardLedgers::Sample(const ServedCard& card) const {
  recorder::Recorder* recorder = recorder_.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const auto ledger = Of(card);
  if (!ledger) return;
  RecordOtherProcesses(*ledger, *card.reader);
  recorder->program().SampleCard(*ledger);
}

void CardLedgers::RecordOtherProcesses(const trace::CardLedger& ledger,
                                       const CardReader& reader) const {
  recorder::Recorder* recorder = recorder_.load(std::memory_order_acquire);
  if (recorder == nullptr || ledger.other_processes == 0) return;
  recorder->program().Annotate(trace::fact::kCardProcesses.Of(ledger.device),
                               LaunchProcessesText(reader.OtherProcesses()));
}

}  // namespace memtrace
