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

// Writes one trace. What Write has returned from is in the file, whatever then kills the process
// (on a file system without shared mappings: all but the last 4 KiB of allocations and frees).
//
// When the file cannot take more (full disk, deleted, an I/O error) recording stops for good: the
// Write that met it returns the reason, once; later ones return OK and are counted in loss(), and
// in the file's first page. Nothing throws, and an event costs no heap allocation; a new string,
// frame or stack does. Thread rule: one thread at a time.
class TraceWriter {
 public:
  // Creates the file. `info` describes the process by the keys of format.md.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Open(
      const std::string& path, const std::map<std::string, std::string>& info,
      const TraceFileOptions& options = {});
  // Writes nothing and counts everything as lost: for a process that could not create its trace but
  // still wants its names and stacks interned.
  static std::unique_ptr<TraceWriter> Stopped(absl::Status why);
  ~TraceWriter();  // closes
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Sequence numbers ascend from call to call, and times do not descend; events refer to ids of
  // definitions().
  template <typename E>
  absl::Status Write(uint64_t sequence, uint64_t time_ns, const E& event);
  absl::Status Write(const Event& event);

  // FreeRequested, and FreeCompleted with the next sequence number, in one record.
  absl::Status WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device, uint64_t address);

  // The names and stacks that events refer to.
  DefinitionWriter& definitions() { return definitions_; }
  const DefinitionWriter& definitions() const { return definitions_; }
  CheckpointRecords& checkpoint() { return checkpoint_; }
  // Summaries, and marks that other processes want. Null if there is no file, and once it is
  // closed.
  FrontPages* front() { return blocks_.front(); }
  // How many blocks there are.
  const RecordBlocks& blocks() const { return blocks_; }
  // Why recording stopped, and what was lost.
  const TraceLoss& loss() const { return blocks_.loss(); }
  const std::string& path() const { return path_; }  // as created; empty if there is no file

  // Ends the file and cuts off what was allocated ahead. Later events are lost.
  void Close();

  // In a forked child: lets go of the parent's file without touching it. Later events are lost.
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
