// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/trace_notes.h"

#include <utility>

#include "interpose/core/explanation.h"
#include "interpose/core/plan_of_process.h"
#include "interpose/core/spoken_sentence.h"

namespace memtrace {

bool TraceNotes::FillInCard(OutOfMemoryEvent& event) const {
  const auto index = static_cast<size_t>(event.device);
  if (parts_.cards.is_forked() || index >= parts_.cards.all().size()) return false;
  const ServedCard& card = parts_.cards.all()[index];
  event.ledger = card.allocator_ledger();
  if (const auto ledger = parts_.ledgers.Of(card)) {
    event.device_free = ledger->free;
    event.device_total = ledger->total;
  }
  return true;
}

std::string TraceNotes::OutOfMemory(const OutOfMemoryEvent& event) {
  parts_.callbacks.before_out_of_memory().Call();
  if (CardActivities* activities = parts_.activities.load(std::memory_order_acquire))
    activities->Flush();
  const std::vector<ServedCard>& cards = parts_.cards.all();
  std::vector<trace::CardLedger> ledgers = parts_.ledgers.At(event, cards);
  std::vector<recorder::HeldBytes> owners;
  if (auto* recorder = this->recorder()) {
    WriteFacts(*recorder);
    for (const trace::CardLedger& ledger : ledgers)
      parts_.ledgers.RecordOtherProcesses(ledger,
                                          *cards[static_cast<size_t>(ledger.device)].reader);
    recorder->blocks().NoteOutOfMemory(event, ledgers);
    ReportFailureOnce();
    owners = recorder->blocks().TopOwners(event.device, 3);
  }
  const trace::OutOfMemory written{.device = static_cast<int32_t>(event.device),
                                   .requested = event.requested,
                                   .allocated = event.allocated,
                                   .obtainable = event.obtainable,
                                   .limit = event.limit,
                                   .cards = std::move(ledgers)};
  return ExplainOutOfMemory(written, parts_.is_recorded ? &owners : nullptr, TracePath());
}

void TraceNotes::SampleCards() {
  if (recorder() == nullptr || parts_.cards.is_forked() || parts_.cards.all().empty()) return;
  for (const ServedCard& card : parts_.cards.all()) parts_.ledgers.Sample(card);
  ReportFailureOnce();
}

void TraceNotes::Moved(const trace::Moved& moved, std::string_view owner) {
  if (recorder() == nullptr || parts_.cards.is_forked()) return;
  recorder()->program().Moved(moved, "", ContextId{}, owner);
  for (const ServedCard& card : parts_.cards.all())
    if (card.reader->device() == moved.device) parts_.ledgers.Sample(card);
}

void TraceNotes::AtEnd() {
  SampleCards();
  WriteFacts(*recorder());
  ReportFailureOnce();
}

std::string TraceNotes::TracePath() const {
  recorder::Recorder* recorder = this->recorder();
  return recorder != nullptr && recorder->trace().status().ok() ? recorder->trace().path() : "";
}

void TraceNotes::WriteFacts(recorder::Recorder& recorder) const {
  for (const auto& [key, value] : SimulationFacts()) recorder.program().Annotate(key, value);
  if (has_plan_ && parts_.cards.device_count() > 0)
    RecordPlanUse(parts_.cards.plan_use(), recorder.program());
}

void TraceNotes::ReportFailureOnce() {
  if (has_said_why_) return;
  if (const absl::Status failure = recorder()->trace().TakeFailure(); !failure.ok()) {
    PrintSentence("Recording stopped (" + std::string(failure.message()) +
                  "). The program continues.");
  }
}

}  // namespace memtrace
