// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_TRACE_NOTES_H_
#define MEMTRACE_INTERPOSE_CORE_TRACE_NOTES_H_

#include <atomic>
#include <string>
#include <vector>

#include "interpose/core/cards/card_activities.h"
#include "interpose/core/cards/card_ledgers.h"
#include "interpose/core/cards/process_cards.h"
#include "interpose/core/program_callbacks.h"
#include "profiler/recorder/recorder.h"

namespace memtrace {

// Writes what concerns all cards into the trace: samples, out-of-memory errors, the facts at the
// end; and prints one line on stderr if recording stops. Without a recorder it only makes the text
// of an out-of-memory.
//
// Thread rule: any thread. No lock of ours or of an allocator may be held.
class TraceNotes {
 public:
  // The parts of the process that are needed; all of them outlive the notes.
  struct Parts {
    const std::atomic<recorder::Recorder*>& recorder;
    const std::atomic<CardActivities*>& activities;
    const ProcessCards& cards;
    const CardLedgers& ledgers;
    ProgramCallbacks& callbacks;
    bool is_recorded;  // there is a recorder, or will be
  };
  explicit TraceNotes(const Parts& parts) : parts_(parts) {}

  // Sets the figures of the card of `event` as they are now; returns false if there is no such
  // card.
  bool FillInCard(OutOfMemoryEvent& event) const;

  // Writes an out-of-memory with the ledgers of all cards and returns its explanation for the
  // error's text.
  std::string OutOfMemory(const OutOfMemoryEvent& event);

  // Writes the ledgers of all cards.
  void SampleCards();

  // Writes what moved off a card, or back, and then the ledger of that card. `owner`: the tag or
  // the role of the memory.
  void Moved(const trace::Moved& moved, std::string_view owner);

  // Writes the last samples and what was simulated and planned.
  void AtEnd();

  // Suppresses the line on stderr, because the reason was printed already.
  void SuppressFailureMessage() { has_said_why_ = true; }
  // From now on, writes how a plan was followed.
  void EnablePlanReport() { has_plan_ = true; }

  // Returns the trace's path; "" if there is none, or if recording stopped.
  std::string TracePath() const;

 private:
  recorder::Recorder* recorder() const { return parts_.recorder.load(std::memory_order_acquire); }
  void ReportFailureOnce();
  // Writes what was simulated and how the plan was followed.
  void WriteFacts(recorder::Recorder& recorder) const;

  const Parts parts_;
  bool has_plan_ = false;      // fixed once there are cards
  bool has_said_why_ = false;  // fixed once there is a recorder
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_TRACE_NOTES_H_
