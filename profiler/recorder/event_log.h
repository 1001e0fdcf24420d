// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_EVENT_LOG_H_
#define MEMTRACE_PROFILER_RECORDER_EVENT_LOG_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/units.h"
#include "profiler/recorder/accounts/checkpoint_writer.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/accounts/run_account.h"
#include "profiler/recorder/event_clock.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// Writes events into the trace, one after the other, and keeps the state that a reader of all of
// them would have.
//
// Order: each event gets its sequence number and its time under one short lock, that of the trace.
// So the order in the file is the order of the events.
//
// Upkeep: summaries, requested marks, and checkpoints are written by the threads that make events;
// the log has no thread of its own. All of this is done before an event is written, so the state is
// the one after the previous event.
//
// The events and the state of one block of 512 bytes, in requested bytes:
//
//   call            event               LiveTable   WaitingBlocks   CardAccount
//   Allocated       1 allocate          the block                   live 512, in use 512, peak 512
//   FreeRequested   2 free_requested                the block       live 512, in use 0
//   FreeCompleted   3 free_completed                                live 0,   in use 0
//
// Freed writes 2 and 3 at once and skips WaitingBlocks.
//
// Errors: as of TraceWriter. Thread rule: any thread that holds mutex(), which must be taken inside
// trace().Guarded().
class EventLog {
 public:
  explicit EventLog(std::unique_ptr<trace::TraceWriter> writer) : trace_(std::move(writer)) {}

  SharedTrace& trace() { return trace_; }  // needs no lock
  SpinMutex& mutex() ABSL_LOCK_RETURNED(trace_.mutex) { return trace_.mutex; }

  trace::TraceWriter& writer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {
    return *trace_.writer;
  }
  EventClock& clock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) { return clock_; }

  // Writes an event with the current time, or with `now` of the log's clock.
  template <typename E>
  void Append(const E& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {
    AppendAt(clock_.Now(), event);
  }
  template <typename E>
  void AppendAt(uint64_t now, const E& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {
    if (now >= look_at_ns_) DoPeriodicWork(now);
    trace_.NoteWritten(trace_.writer->Write(++sequence_, now, event));
    run_.Note(event);
  }
  // Writes two events: a free was requested, and completed at once. Returns the sequence number of
  // the first one.
  uint64_t AppendFreed(DeviceIndex device, DeviceAddress address)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {
    const uint64_t now = clock_.Now();
    if (now >= look_at_ns_) DoPeriodicWork(now);
    const uint64_t sequence = sequence_ + 1;
    sequence_ += 2;
    trace_.NoteWritten(
        trace_.writer->WriteFreed(sequence, now, static_cast<int32_t>(device), address.value()));
    return sequence;
  }
  uint64_t sequence() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {  // of the latest event
    return sequence_;
  }

  // The state after the events so far. Append updates the account as far as an event alone can; for
  // an event of a block, its caller also updates the table and the account.
  LiveTable& live() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) { return live_; }
  RunAccount& run() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) { return run_; }
  // Removes a freed block from the live table; a checkpoint that still lacks it restates it first.
  // Returns the block; nothing if there is none.
  std::optional<LiveBlock> Forget(DeviceIndex device, DeviceAddress address)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex) {
    auto freed = live_.Remove(device, address);
    if (freed) {
      checkpoint_.Removed(trace_.writer->checkpoint(), run_,
                          {address, static_cast<int32_t>(device)}, *freed);
    }
    return freed;
  }

  // Writes a summary now, for a file that may get no further event.
  void Summarise(bool is_last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);

 private:
  void DoPeriodicWork(uint64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void SummariseAt(uint64_t now, bool is_last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void MakeMarks(uint64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);

  SharedTrace trace_;
  EventClock clock_ ABSL_GUARDED_BY(trace_.mutex);
  LiveTable live_ ABSL_GUARDED_BY(trace_.mutex);
  RunAccount run_ ABSL_GUARDED_BY(trace_.mutex);
  CheckpointWriter checkpoint_ ABSL_GUARDED_BY(trace_.mutex);
  uint64_t look_at_ns_ ABSL_GUARDED_BY(trace_.mutex) = 0;     // when to look around again
  uint64_t summary_at_ns_ ABSL_GUARDED_BY(trace_.mutex) = 0;  // when to write the next one
  uint64_t marks_ ABSL_GUARDED_BY(trace_.mutex) = 0;          // number of the marks made
  uint64_t sequence_ ABSL_GUARDED_BY(trace_.mutex) = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_EVENT_LOG_H_
