// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/trace/coding/call_tree.h"
#include "profiler/trace/coding/record_encoder.h"
#include "profiler/trace/coding/string_table.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/writing/front_pages.h"
#include "profiler/trace/writing/trace_file.h"

namespace memtrace::trace {

// Writes one trace. What Write has returned from is in the file, whatever then kills the process
// (on a file system without shared mappings: all but the last 4 KiB of allocations and frees).
//
// When the file cannot take more (full disk, deleted, an I/O error) recording stops for good: the
// Write that met it returns the reason, once; later ones return OK and are counted in lost_events,
// here and in the file's first page. Nothing throws, and an event costs no heap allocation; a new
// string, frame or stack does. Thread rule: one thread at a time.
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
  // this writer.
  template <typename E>
  absl::Status Write(uint64_t sequence, uint64_t time_ns, const E& event);
  absl::Status Write(const Event& event);

  // FreeRequested, and FreeCompleted with the next sequence number, in one record.
  absl::Status WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device, uint64_t address);

  // For a file that drops its oldest blocks, and only between BeginCheckpoint and EndCheckpoint:
  // says again what still holds. A reader for whom the checkpoint is whole may begin at its
  // beginning; events go on meanwhile. `sequence` and `time_ns` are those of the latest
  // event. A second BeginCheckpoint gives the first one up.
  void BeginCheckpoint(uint64_t sequence, uint64_t time_ns);
  template <typename E>
  void Restate(const E& event);
  void EndCheckpoint();
  // Blocks of events begun so far, and how many the file holds at most (0: no end).
  uint64_t blocks_begun() const { return blocks_begun_; }
  uint64_t blocks_kept() const { return keeps_last_part() ? file_->ring()->event_blocks() : 0; }
  bool keeps_last_part() const { return keeps_ && file_ != nullptr; }

  // Summaries, and marks that other processes want. Null if there is no file, and once it is
  // closed.
  FrontPages* front() { return file_ != nullptr ? &file_->front() : nullptr; }

  // Ids for events, defined in the file at first sight. Strings over 16 KiB are cut.
  StringId String(std::string_view text);
  FrameId DefineFrame(const Frame& frame);
  StackId DefineStack(StackId parent, FrameId frame);  // `parent` is the caller's stack

  std::string_view Text(StringId id) const { return strings_.Text(id); }
  std::vector<Frame> Stack(StackId id) const;  // innermost first

  // Ends the file and cuts off what was allocated ahead. Later events are lost.
  void Close();

  // In a forked child: lets go of the parent's file without touching it. Later events are lost.
  void AbandonInForkedChild();

  const std::string& path() const { return path_; }       // as created; empty if there is no file
  const absl::Status& status() const { return status_; }  // why recording stopped; OK until then
  uint64_t lost_events() const { return lost_events_; }

 private:
  explicit TraceWriter(std::unique_ptr<TraceFile> file);

  struct OpenBlock {
    Chain chain = Chain::kEvents;
    uint8_t* data = nullptr;        // null: none is open
    size_t used = 0;                // bytes of it, its header included
    size_t flushed = 0;             // of these; only where the file asks for flushes
    uint64_t unflushed_events = 0;  // likewise

    BlockHeader& header() const { return *reinterpret_cast<BlockHeader*>(data); }
  };

  uint8_t* Room(OpenBlock& block, size_t bytes);
  uint8_t* DefinitionRoom(size_t bytes);
  bool BeginBlock(OpenBlock& block);
  void SealBlock(OpenBlock& block, uint32_t capacity);
  void Commit(OpenBlock& block, const uint8_t* end, bool at_once);
  void CommitDefinition(const uint8_t* end);
  void MarkCheckpoint(uint64_t restated_plus_one, uint64_t sequence, uint64_t time_ns);
  absl::Status FlushRecords(OpenBlock& block);
  void Stop(absl::Status why);
  absl::Status NoteLost();
  OpenBlock& definitions() { return keeps_ ? definitions_ : events_; }

  std::unique_ptr<TraceFile> file_;  // null once nothing more is written
  std::string path_;
  pid_t owner_;  // a child that was forked behind our back must not write
  bool keeps_;   // the last part only: definitions have blocks of their own, which stay
  OpenBlock events_;
  OpenBlock definitions_{.chain = Chain::kDefinitions};  // only if keeps_
  uint64_t blocks_begun_ = 0;
  uint64_t first_sequence_ = 0;  // of the latest block of events
  uint64_t restated_ = 0;        // since the checkpoint began
  DeltaState delta_;
  DeltaState restated_delta_;  // of its own: who skips restated records decodes the rest
  StringTable strings_;
  CallTree stacks_;
  absl::Status status_;
  bool told_ = false;  // status_ was returned once
  uint64_t lost_events_ = 0;
};

template <typename E>
absl::Status TraceWriter::Write(uint64_t sequence, uint64_t time_ns, const E& event) {
  uint8_t* room = Room(events_, MaxRecordBytes(event));
  if (room == nullptr) return NoteLost();
  RecordEncoder record(KindOf<E>(), room, delta_);
  record.Moment(sequence, time_ns);
  CodeFields(record, event);
  constexpr bool kFrequent = std::same_as<E, Allocate> || std::same_as<E, FreeRequested> ||
                             std::same_as<E, FreeCompleted> || std::same_as<E, Activity>;
  ++events_.unflushed_events;
  Commit(events_, record.Finish(), /*at_once=*/!kFrequent);
  return absl::OkStatus();
}

template <typename E>
void TraceWriter::Restate(const E& event) {
  uint8_t* room = Room(events_, MaxRecordBytes(event));
  if (room == nullptr) return;
  RecordEncoder record(RestatedKindOf<E>(), room, restated_delta_);
  record.Number(0U);  // the moment: the checkpoint's
  CodeFields(record, event);
  ++restated_;
  Commit(events_, record.Finish(), /*at_once=*/false);
}

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_TRACE_WRITER_H_
