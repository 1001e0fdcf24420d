// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_PROGRAM_RECORDER_H_
#define MEMTRACE_PROFILER_RECORDER_PROGRAM_RECORDER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/event_log.h"
#include "profiler/recorder/micro_batch.h"
#include "profiler/recorder/tag_scopes.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// Records statements about the program as a whole: its progress, facts about it, and memory outside
// the allocator. Errors: as of Recorder. Thread rule: any thread.
class ProgramRecorder {
 public:
  // All must outlive this.
  ProgramRecorder(EventLog& log, const ContextTable& contexts, TagScopes& scopes)
      : log_(log), contexts_(contexts), scopes_(scopes) {}

  // Sets the process's phase and returns the previous one, which the caller may restore. A forward
  // after a backward of the same step begins the step's next micro-batch.
  trace::Phase SetPhase(trace::Phase phase);
  uint64_t BeginStep();  // returns its number; the first is 1

  // Writes a fact by key (format.md lists them), unless it already has this value.
  void Annotate(std::string_view key, std::string_view value);
  void SampleCard(const trace::CardLedger& card);
  // From now on, blocks are those of an allocator. Blocks so far were what the program took without
  // one; no peak of theirs counts where all of them have ended (OutsideRecorder).
  void BeginAllocator();

  // Records memory from the driver outside the allocator; stack, owner and module come from
  // `context`.
  void OutsideAllocated(trace::OutsideAllocate event, ContextId context);
  void OutsideFreed(const trace::OutsideFree& event);

  // Records memory that moved; the stack comes from `context`. `to` names another process; empty
  // if it went to a library of this one. `owner` is what the memory is for, if that is known.
  void Moved(trace::Moved event, std::string_view to, ContextId context,
             std::string_view owner = {});

  // Returns the name of a block's owner; "" if it has none.
  std::string OwnerName(trace::StringId owner) const;

 private:
  EventLog& log_;
  const ContextTable& contexts_;
  TagScopes& scopes_;
  MicroBatch micro_batch_ ABSL_GUARDED_BY(log_.mutex());
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_PROGRAM_RECORDER_H_
