// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_QUEUE_CURSOR_H_
#define MEMTRACE_PROFILER_TRACE_READING_QUEUE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/reading/block_scan.h"
#include "profiler/trace/reading/checkpoint_scan.h"

namespace memtrace::trace {

// Returns the state against which the first record of a block is decoded.
inline DeltaState InitialDelta(const Block& block) {
  return {.sequence = block.header.first_sequence - 1};
}

// The events of one queue, one after another. The bytes of its blocks must outlive it.
class QueueCursor {
 public:
  void Append(const Block& block) { blocks_.push_back(block); }

  void Rewind();
  void RewindTo(const Checkpoint& checkpoint);

  bool done() const { return block_ == blocks_.size(); }
  // The following REQUIRE !done().
  const Event& event() const { return event_; }
  void Advance();
  const uint8_t* record() const { return record_; }  // the record of the event

 private:
  void EnterBlock();

  std::vector<Block> blocks_;
  size_t block_ = 0;
  const uint8_t* at_ = nullptr;
  const uint8_t* record_ = nullptr;
  DeltaState delta_;
  Event event_;
  bool completes_ = false;  // event_ is the first of the two events of its record
};

// The events of several queues, in order of their sequence numbers. It starts at the current
// position of each queue; `queues` must outlive it.
class QueueMerge {
 public:
  explicit QueueMerge(std::map<uint16_t, QueueCursor>& queues);

  bool done() const { return earliest_.empty(); }
  // The following REQUIRE !done().
  const Event& event() const { return earliest_.front()->event(); }
  const uint8_t* record() const { return earliest_.front()->record(); }
  void Advance();

 private:
  std::vector<QueueCursor*> earliest_;  // a heap of the queues that are not done
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_QUEUE_CURSOR_H_
