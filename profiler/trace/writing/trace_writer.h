// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/trace/coding/record_encoder.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/writing/checkpoint_records.h"
#include "profiler/trace/writing/definition_writer.h"
#include "profiler/trace/writing/front_pages.h"
#include "profiler/trace/writing/record_blocks.h"
#include "profiler/trace/writing/trace_file.h"
#include "profiler/trace/writing/trace_loss.h"

namespace memtrace::trace {

// Writes one trace. A record is in the file once Write has returned, however the process is killed
// (on a file system without shared mappings, except for the last 4 KiB of allocations and frees).
//
// If the file cannot take more (full disk, deleted, an I/O error) recording stops for good: the
// failing Write returns the reason, once; later ones return OK and are counted in loss(), and in
// the file's first page. Nothing throws, and an event costs no heap allocation; a new string, frame
// or stack does. Thread rule: one thread at a time.
class TraceWriter {
 public:
  // Creates the file. `info` describes the process with the keys of format.md.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Open(
      const std::string& path, const std::map<std::string, std::string>& info,
      const TraceFileOptions& options = {});
  // Returns a writer that writes nothing and counts everything as lost: for a process that could
  // not create its trace but still needs interned names and stacks.
  static std::unique_ptr<TraceWriter> Stopped(absl::Status why);
  ~TraceWriter();  // closes
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Writes an event. Sequence numbers must ascend from call to call, and times must not descend;
  // events refer to ids of definitions().
  template <typename E>
  absl::Status Write(uint64_t sequence, uint64_t time_ns, const E& event);
  absl::Status Write(const Event& event);

  // Writes FreeRequested, and FreeCompleted with the next sequence number, in one record.
  absl::Status WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device, uint64_t address);

  // Returns the definitions of the names and stacks that events refer to.
  DefinitionWriter& definitions() { return definitions_; }
  const DefinitionWriter& definitions() const { return definitions_; }
  CheckpointRecords& checkpoint() { return checkpoint_; }
  // Returns the summaries, and the marks that other processes request. Null if there is no file, or
  // once it is closed.
  FrontPages* front() { return blocks_.front(); }
  // Returns the state of the blocks.
  const RecordBlocks& blocks() const { return blocks_; }
  // Returns why recording stopped, and what was lost.
  const TraceLoss& loss() const { return blocks_.loss(); }
  const std::string& path() const { return path_; }  // as created; empty if there is no file

  // Ends the file and cuts off the space that was allocated ahead. Later events are lost.
  void Close();

  // In a forked child: releases the parent's file without changing it. Later events are lost.
  void AbandonInForkedChild();

 private:
  explicit TraceWriter(std::unique_ptr<TraceFile> file);
  explicit TraceWriter(absl::Status why);

  std::string path_;
  RecordBlocks blocks_;
  DefinitionWriter definitions_;
  CheckpointRecords checkpoint_;
};

template <typename E>
absl::Status TraceWriter::Write(uint64_t sequence, uint64_t time_ns, const E& event) {
  uint8_t* room = blocks_.EventRoom(MaxRecordBytes(event));
  if (room == nullptr) return blocks_.NoteLost(1);
  RecordEncoder record(KindOf<E>(), room, blocks_.delta());
  record.Moment(sequence, time_ns);
  CodeFields(record, event);
  constexpr bool kFrequent = std::same_as<E, Allocate> || std::same_as<E, FreeRequested> ||
                             std::same_as<E, FreeCompleted> || std::same_as<E, Activity>;
  blocks_.CommitEvents(record.Finish(), 1, /*at_once=*/!kFrequent);
  return absl::OkStatus();
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_
