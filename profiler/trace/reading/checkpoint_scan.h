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

// Where in a file reading may begin, and what held there.
struct Checkpoint {
  size_t block = 0;             // in order of age
  const uint8_t* at = nullptr;  // behind the record that begins it
  DeltaState delta;             // of events, there
  uint64_t sequence = 0;        // of the last event before
  uint64_t time_ns = 0;         // likewise
  std::vector<Event> held;      // each with both
};

// Looks for the first whole checkpoint among records that go by in order of age.
class CheckpointScan {
 public:
  // The block with number `block` begins.
  void EnterBlock(size_t block);
  // A record of kind kCheckpoint; `delta` is that of events. False if it cannot be read.
  bool Mark(const RawRecord& record, const DeltaState& delta);
  // A record that says again what `event` said. False if it cannot be read.
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
