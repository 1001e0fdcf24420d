// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/queue_cursor.h"

#include <algorithm>
#include <utility>

#include "profiler/trace/coding/record_decoder.h"

namespace memtrace::trace {
namespace {

bool IsLater(const QueueCursor* a, const QueueCursor* b) {
  return a->event().sequence > b->event().sequence;
}

}  // namespace

void QueueCursor::Rewind() {
  block_ = 0;
  completes_ = false;
  EnterBlock();
  Advance();
}

void QueueCursor::RewindTo(const Checkpoint& checkpoint) {
  block_ = checkpoint.block;
  at_ = checkpoint.at;
  delta_ = checkpoint.delta;
  completes_ = false;
  Advance();
}

void QueueCursor::EnterBlock() {
  if (done()) return;
  at_ = blocks_[block_].records;
  delta_ = InitialDelta(blocks_[block_]);
}

// A record that cannot be decoded ends its block.
void QueueCursor::Advance() {
  if (std::exchange(completes_, false)) return Complete(&event_);
  while (!done()) {
    const auto record = NextRecord(at_, blocks_[block_].end);
    if (!record) {
      ++block_;
      EnterBlock();
      continue;
    }
    record_ = std::exchange(at_, record->end);
    if (!IsKnownEvent(record->kind)) continue;
    if (DecodeEvent(*record, delta_, &event_)) {
      completes_ = record->kind == RecordKind::kFreed;
      return;
    }
    at_ = blocks_[block_].end;
  }
}

QueueMerge::QueueMerge(std::map<uint16_t, QueueCursor>& queues) {
  for (auto& [number, queue] : queues) {
    if (!queue.done()) earliest_.push_back(&queue);
  }
  std::make_heap(earliest_.begin(), earliest_.end(), IsLater);
}

void QueueMerge::Advance() {
  std::pop_heap(earliest_.begin(), earliest_.end(), IsLater);
  earliest_.back()->Advance();
  if (earliest_.back()->done()) {
    earliest_.pop_back();
  } else {
    std::push_heap(earliest_.begin(), earliest_.end(), IsLater);
  }
}

}  // namespace memtrace::trace
