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

// What the file says about itself and what could not be read of it.
struct Completeness {
  bool closed = false;          // the process ended the file itself
  uint64_t damaged_blocks = 0;  // blocks whose checksum or content is wrong; each costs only itself
  uint64_t truncated_bytes = 0;  // bytes at the end that belong to no whole record
  bool end_missing = false;  // behind first_bad_offset, of a file that says nothing of its length
  // Offset of the first damaged block or truncated record; 0 if there is none.
  uint64_t first_bad_offset = 0;
  uint64_t unread_bytes = 0;  // of damaged blocks, of the last record, of an end that is missing
  uint64_t lost_events = 0;   // events the process could not write (full disk ...)

  // The rest is set for a file that keeps its last part only (--keep).
  uint64_t kept_bytes = 0;      // what it was to keep at most; 0: everything
  uint64_t dropped_events = 0;  // before the first one that is visited
  uint64_t begins_at_step = 0;
  // There is no whole checkpoint: what lived when recording begins is unknown.
  bool live_set_missing = false;

  bool whole() const { return damaged_blocks == 0 && truncated_bytes == 0 && !end_missing; }
};

// Reads a trace: whole, cut short at any byte, damaged, or still being written. Open copies the
// file into memory: a reader does not see what is written or cut later.
//
// Errors of Open: kNotFound (no such file), kPermissionDenied, kInvalidArgument (not a trace: says
// what it is instead where that can be told), kFailedPrecondition (a later format than this reader
// knows). Thread rule: one thread a reader.
class TraceReader {
 public:
  static absl::StatusOr<TraceReader> Open(const std::string& path);
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  // Facts of the process, by key: host, pid, ppid, rank, command, script, python, torch, allocator
  // (memtrace, native), card (as given to --card), simulated (0, 1), started_unix_ns, memtrace.
  // format.md lists them.
  const std::map<std::string, std::string>& info() const;

  // Visits all events in order of their sequence numbers. May be called more than once, also from
  // within `visit`. If the beginning was dropped, Resume and what held then come first.
  void ForEach(const std::function<void(const Event&)>& visit) const;

  // As ForEach; `offset` is where the event's record begins, 0 for an event that a checkpoint or
  // the first page says.
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

  // For RepairTrace: the first page, and the blocks that could be read, in the order in which they
  // were, each up to its last good record.
  const FileHeader& header() const;
  const std::vector<Block>& blocks() const;

 private:
  class State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_READING_TRACE_READER_H_
