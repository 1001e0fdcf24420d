// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_CHECKPOINT_SCAN_H_
#define MEMTRACE_PROFILER_TRACE_READING_CHECKPOINT_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/coding/record_decoder.h"
#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// A place in a file where reading may begin, and the state there.
struct Checkpoint {
  size_t block = 0;             // index of the block, by age
  const uint8_t* at = nullptr;  // after the record that begins the checkpoint
  DeltaState delta;             // the state of the events' encoding there
  uint64_t sequence = 0;        // of the last event before it
  uint64_t time_ns = 0;         // of the same event
  std::vector<Event> held;      // the restated events, each with this sequence and time
};

// Finds the first complete checkpoint among records that are passed in order of age.
class CheckpointScan {
 public:
  // Begins the block with number `block`.
  void EnterBlock(size_t block);
  // Reads a record of kind kCheckpoint; `delta` is that of events. Returns false if it cannot be
  // read.
  bool Mark(const RawRecord& record, const DeltaState& delta);
  // Reads a record that restates an event of kind `event`. Returns false if it cannot be read.
  bool Restated(const RawRecord& record, RecordKind event);

  const std::optional<Checkpoint>& found() const { return found_; }

 private:
  size_t block_ = 0;
  DeltaState restated_;
  std::optional<Checkpoint> candidate_;
  std::optional<Checkpoint> found_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_CHECKPOINT_SCAN_H_
