// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_READING_TRACE_READER_H_
#define MEMTRACE_PROFILER_TRACE_READING_TRACE_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/trace/events/event.h"

namespace memtrace::trace {

struct Block;
struct FileHeader;

// The state that the file states about itself, and the parts that could not be read.
struct Completeness {
  bool closed = false;           // the process closed the file itself
  uint64_t damaged_blocks = 0;   // blocks with a wrong checksum or content; the others are readable
  uint64_t truncated_bytes = 0;  // bytes at the end that form no whole record
  bool end_missing = false;      // after first_bad_offset, in a file that does not state its length
  // Offset of the first damaged block or truncated record; 0 if there is none.
  uint64_t first_bad_offset = 0;
  uint64_t unread_bytes = 0;  // in damaged blocks, the last record, or a missing end
  uint64_t lost_events = 0;   // events that the process could not write (full disk ...)

  // The rest is set for a file that keeps only its last part (--keep).
  uint64_t kept_bytes = 0;      // limit of the file's size; 0: none
  uint64_t dropped_events = 0;  // events before the first one that is visited
  uint64_t begins_at_step = 0;
  // There is no complete checkpoint: the live blocks at the beginning are unknown.
  bool live_set_missing = false;

  bool whole() const { return damaged_blocks == 0 && truncated_bytes == 0 && !end_missing; }
};

// Reads a trace, even if it is cut short at any byte, damaged, or still being written. Open copies
// the file into memory, so a reader does not see later changes.
//
// Errors of Open: kNotFound (no such file), kPermissionDenied, kInvalidArgument (not a trace; says
// what it is instead if it can be recognised), kFailedPrecondition (a later format than this reader
// knows). Thread rule: one thread a reader.
class TraceReader {
 public:
  static absl::StatusOr<TraceReader> Open(const std::string& path);
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  // Returns the facts of the process, by key: host, pid, ppid, rank, command, script, python,
  // torch, allocator (memtrace, native), card (as given to --card), simulated (0, 1),
  // started_unix_ns, memtrace. format.md lists them.
  const std::map<std::string, std::string>& info() const;

  // Visits all events in order of their sequence numbers. May be called more than once, also from
  // within `visit`. If the beginning was dropped, Resume and the restated state come first.
  void ForEach(const std::function<void(const Event&)>& visit) const;

  // Does the same as ForEach; `offset` is where the event's record begins, 0 for an event from a
  // checkpoint or the first page.
  void ForEachAt(const std::function<void(const Event&, uint64_t offset)>& visit) const;

  // Returns the text of an id, "(lost)" if its definition was lost; valid as long as the reader.
  std::string_view String(StringId id) const;
  // Returns the frames, innermost first; ends early if a caller's definition was lost; empty for 0.
  std::vector<Frame> Stack(StackId id) const;

  // True if the file defines the id and all that it refers to; true for 0.
  bool HasString(StringId id) const;
  bool HasStack(StackId id) const;

  // Known after Open.
  const Completeness& completeness() const;

  // For RepairTrace: the first page, and the readable blocks in their order, each up to its last
  // good record.
  const FileHeader& header() const;
  const std::vector<Block>& blocks() const;

 private:
  class State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_READER_H_
