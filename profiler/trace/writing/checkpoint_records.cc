// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/checkpoint_records.h"

namespace memtrace::trace {

void CheckpointRecords::Begin(uint64_t sequence, uint64_t time_ns) {
  restated_ = 0;
  Mark(0, sequence, time_ns);
}

void CheckpointRecords::End() { Mark(restated_ + 1, 0, 0); }

void CheckpointRecords::Mark(uint64_t restated_plus_one, uint64_t sequence, uint64_t time_ns) {
  uint8_t* room = blocks_.EventRoom(kMaxPlainRecord);
  if (room == nullptr) return;
  RecordEncoder record(RecordKind::kCheckpoint, room, blocks_.restated_delta());
  record.Number(restated_plus_one);
  record.Number(sequence);
  record.Number(time_ns);
  blocks_.CommitEvents(record.Finish(), 0, /*at_once=*/true);
}

}  // namespace memtrace::trace
