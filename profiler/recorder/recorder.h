// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_RECORDER_H_
#define MEMTRACE_PROFILER_RECORDER_RECORDER_H_

#include <memory>

#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/block_recorder.h"
#include "profiler/recorder/block_uses.h"
#include "profiler/recorder/event_log.h"
#include "profiler/recorder/program_recorder.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/recorder/stack_table.h"
#include "profiler/recorder/tag_scopes.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// Composes the parts that record one process into one trace. Callers use the parts directly:
//
//   context = recorder.scopes().CurrentContext(recorder.stacks().Intern(frames));  // no lock held
//   recorder.blocks().Allocated({..., .context = context});                        // a card's lock
//
// Harmless: no part throws, calls out under a lock, or waits for anything but the trace's one short
// lock and, once in 80,000 events, the extension of the file by 1 MiB. If the file cannot take
// more, recording stops, trace().status() returns the reason, and all later events are counted in
// trace().lost_events(); names, tags and the live table keep working, and so does the text of an
// out-of-memory error. If host memory runs out, single events are counted as lost. Tables are
// bounded (see each); the file is bounded by the disk. Thread rule: any thread. Lifetime: leak it,
// or be sure that all threads have stopped.
class Recorder {
 public:
  // `writer` is an open trace, or TraceWriter::Stopped(reason). `symbolizer` must outlive the
  // recorder.
  Recorder(std::unique_ptr<trace::TraceWriter> writer, FrameSymbolizer& symbolizer);

  BlockRecorder& blocks() { return blocks_; }      // events of the cards' memory
  BlockUses& uses() { return uses_; }              // when operations last used that memory
  ProgramRecorder& program() { return program_; }  // phases, steps, facts
  TagScopes& scopes() { return scopes_; }          // tags, modules and roles of the calling thread
  StackTable& stacks() { return stacks_; }         // the call stacks
  ContextTable& contexts() { return contexts_; }   // scope and stack, packed for the allocator
  SharedTrace& trace() { return log_.trace(); }    // strings, losses, forks

  // Ends the file. Later events are lost.
  void Close();

 private:
  EventLog log_;
  ContextTable contexts_;
  TagScopes scopes_;
  StackTable stacks_;
  BlockRecorder blocks_;
  BlockUses uses_;
  ProgramRecorder program_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_RECORDER_H_
