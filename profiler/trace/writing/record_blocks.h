// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_RECORD_BLOCKS_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_RECORD_BLOCKS_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "profiler/trace/coding/event_fields.h"
#include "profiler/trace/coding/format.h"
#include "profiler/trace/writing/front_pages.h"
#include "profiler/trace/writing/trace_file.h"
#include "profiler/trace/writing/trace_loss.h"

namespace memtrace::trace {

// The blocks of a trace that are being filled, and where the next record goes. A file that drops
// its oldest blocks has one of events and one of definitions open; any other has one for both.
//
// A record is written in two steps: Room gives its place, and Commit makes it part of the file. A
// reader, also one that comes after the process was killed, sees only records that are committed.
//
// Errors: at the first one nothing more is written; loss() says why. Thread rule: one thread at a
// time.
class RecordBlocks {
 public:
  explicit RecordBlocks(std::unique_ptr<TraceFile> file);
  // Without a file, so that everything is lost. REQUIRES: !why.ok().
  explicit RecordBlocks(absl::Status why);
  RecordBlocks(const RecordBlocks&) = delete;
  RecordBlocks& operator=(const RecordBlocks&) = delete;

  // Returns room for a record of at most `bytes`; null if nothing more can be written. It may begin
  // a block, so the record is encoded, with the deltas below, afterwards.
  uint8_t* EventRoom(size_t bytes) { return Room(events_, bytes); }
  uint8_t* DefinitionRoom(size_t bytes) { return Room(definitions(), bytes); }
  // True if a definition of `bytes` needs one more block, and definitions have taken their share of
  // the file: those that stay must not take what the events need.
  bool DefinitionsAreFull(size_t bytes) const;

  // The record that ends at `end` holds `events` events. Where system calls write the file, it is
  // written at once, or together with the next ones.
  void CommitEvents(const uint8_t* end, uint64_t events, bool at_once) {
    events_.unflushed_events += events;
    Commit(events_, end, at_once);
  }
  // In a block of its own a definition is in the file before an event that refers to it.
  void CommitDefinition(const uint8_t* end) { Commit(definitions(), end, /*at_once=*/keeps_); }

  // What a record is encoded against: the one before it in the block of events. Restated records
  // have deltas of their own, because a reader may skip them and must decode the rest.
  DeltaState& delta() { return delta_; }
  DeltaState& restated_delta() { return restated_delta_; }

  // Counts events for which there was no room, here and in the file's first page. Returns the
  // reason, the first time.
  absl::Status NoteLost(uint64_t events);
  const TraceLoss& loss() const { return loss_; }

  // Ends the file and cuts off what was allocated ahead.
  void Close();
  // In a forked child: lets go of the parent's file without touching it.
  void Abandon();

  FrontPages* front() { return file_ != nullptr ? &file_->front() : nullptr; }

  // Returns how many blocks of events were begun so far, and how many the file holds at most (0: no
  // end, or there is no file).
  uint64_t begun() const { return begun_; }
  uint64_t kept() const { return keeps_ && file_ != nullptr ? file_->ring()->event_blocks() : 0; }

 private:
  struct OpenBlock {
    Chain chain = Chain::kEvents;
    uint8_t* data = nullptr;        // null: none is open
    size_t used = 0;                // bytes of it, its header included
    size_t flushed = 0;             // of these; only where the file asks for flushes
    uint64_t unflushed_events = 0;  // likewise

    BlockHeader& header() const { return *reinterpret_cast<BlockHeader*>(data); }
    bool Fits(size_t bytes) const { return data != nullptr && used + bytes <= kBlockBytes; }
  };

  // Where records must be flushed by system calls, this many bytes of allocations and frees wait
  // for each other; everything else is flushed at once.
  static constexpr size_t kFlushBytes = 4096;

  uint8_t* Room(OpenBlock& block, size_t bytes) {
    return block.Fits(bytes) ? block.data + block.used : RoomInNext(block);
  }
  void Commit(OpenBlock& block, const uint8_t* end, bool at_once) {
    block.used = static_cast<size_t>(end - block.data);
    // A reader, or whoever reads the file after our death, sees whole records below this length.
    std::atomic_ref(block.header().committed)
        .store(static_cast<uint32_t>(block.used - sizeof(BlockHeader)), std::memory_order_release);
    if (file_->flushes() && (at_once || block.used - block.flushed >= kFlushBytes)) {
      FlushOrStop(block);
    }
  }
  uint8_t* RoomInNext(OpenBlock& block);
  bool Begin(OpenBlock& block);
  void Seal(OpenBlock& block, uint32_t capacity);
  absl::Status Flush(OpenBlock& block);
  void FlushOrStop(OpenBlock& block);
  void Stop(absl::Status why);
  OpenBlock& definitions() { return keeps_ ? definitions_ : events_; }
  const OpenBlock& definitions() const { return keeps_ ? definitions_ : events_; }

  std::unique_ptr<TraceFile> file_;  // null once nothing more is written
  pid_t owner_;                      // a child that was forked behind our back must not write
  bool keeps_;  // the last part only: definitions have blocks of their own, which stay
  OpenBlock events_;
  OpenBlock definitions_{.chain = Chain::kDefinitions};  // only if keeps_
  uint64_t begun_ = 0;
  uint64_t first_sequence_ = 0;  // of the latest block of events
  DeltaState delta_;
  DeltaState restated_delta_;
  TraceLoss loss_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_RECORD_BLOCKS_H_
