// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_CHECKPOINT_RECORDS_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_CHECKPOINT_RECORDS_H_

#include <cstdint>

#include "absl/base/attributes.h"
#include "profiler/trace/coding/record_encoder.h"
#include "profiler/trace/writing/record_blocks.h"

namespace memtrace::trace {

// Restates the current state, for a file that drops its oldest blocks: a reader that has all of a
// checkpoint may begin there. Events go on meanwhile.
//
// Errors: none; if a record cannot be written, the checkpoint has no end. Thread rule: one thread
// at a time.
class CheckpointRecords {
 public:
  // `blocks` must outlive this.
  explicit CheckpointRecords(RecordBlocks& blocks ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : blocks_(blocks) {}

  // Begins a checkpoint after the latest event, with its number and time. Abandons an unfinished
  // one.
  void Begin(uint64_t sequence, uint64_t time_ns);
  // REQUIRES: between Begin and End.
  template <typename E>
  void Restate(const E& event);
  void End();

 private:
  void Mark(uint64_t restated_plus_one, uint64_t sequence, uint64_t time_ns);

  RecordBlocks& blocks_;
  uint64_t restated_ = 0;  // since the checkpoint began
};

template <typename E>
void CheckpointRecords::Restate(const E& event) {
  uint8_t* room = blocks_.EventRoom(MaxRecordBytes(event));
  if (room == nullptr) return;
  RecordEncoder record(RestatedKindOf<E>(), room, blocks_.restated_delta());
  record.Number(0U);  // the moment: that of the checkpoint
  CodeFields(record, event);
  ++restated_;
  blocks_.CommitEvents(record.Finish(), 0, /*at_once=*/false);
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_CHECKPOINT_RECORDS_H_
