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

// The blocks of a trace that are being filled, and the place of the next record. A file that drops
// its oldest blocks has one open block of events and one of definitions; other files have one for
// both.
//
// A record is written in two steps: Room returns its place, and Commit makes it part of the file. A
// reader, also after the process was killed, sees only committed records.
//
// Errors: after the first one nothing more is written; loss() has the reason. Thread rule: one
// thread at a time.
class RecordBlocks {
 public:
  explicit RecordBlocks(std::unique_ptr<TraceFile> file);
  // Has no file, so that everything is lost. REQUIRES: !why.ok().
  explicit RecordBlocks(absl::Status why);
  RecordBlocks(const RecordBlocks&) = delete;
  RecordBlocks& operator=(const RecordBlocks&) = delete;

  // Returns room for a record of at most `bytes`; null if nothing more can be written. This may
  // begin a block and reset the deltas below, so the record must be encoded afterwards.
  uint8_t* EventRoom(size_t bytes) { return Room(events_, bytes); }
  uint8_t* DefinitionRoom(size_t bytes) { return Room(definitions(), bytes); }
  // True if a definition of `bytes` needs another block, but definitions have used up their share
  // of the file: they are never dropped, and must leave room for the events.
  bool DefinitionsAreFull(size_t bytes) const;

  // Commits the record that ends at `end` and holds `events` events. If system calls write the
  // file, it is written at once, or together with later ones.
  void CommitEvents(const uint8_t* end, uint64_t events, bool at_once) {
    events_.unflushed_events += events;
    Commit(events_, end, at_once);
  }
  // Writes a definition in a block of its own at once, so that it precedes events that refer to it.
  void CommitDefinition(const uint8_t* end) { Commit(definitions(), end, /*at_once=*/keeps_); }

  // The state against which a record is encoded: that of the previous one in the block of events.
  // Restated records have their own state, because a reader may skip them and must decode the rest.
  DeltaState& delta() { return delta_; }
  DeltaState& restated_delta() { return restated_delta_; }

  // Counts events for which there was no room, here and in the file's first page. Returns the
  // reason the first time, and OK afterwards.
  absl::Status NoteLost(uint64_t events);
  const TraceLoss& loss() const { return loss_; }

  // Ends the file and cuts off the space that was allocated ahead.
  void Close();
  // In a forked child: releases the parent's file without changing it.
  void Abandon();

  FrontPages* front() { return file_ != nullptr ? &file_->front() : nullptr; }

  // Returns how many blocks of events were begun so far, and how many the file can hold (0: no
  // limit, or no file).
  uint64_t begun() const { return begun_; }
  uint64_t kept() const { return keeps_ && file_ != nullptr ? file_->ring()->event_blocks() : 0; }

 private:
  struct OpenBlock {
    Chain chain = Chain::kEvents;
    uint8_t* data = nullptr;        // null: none is open
    size_t used = 0;                // bytes, including the header
    size_t flushed = 0;             // bytes of `used`; only if the file needs flushes
    uint64_t unflushed_events = 0;  // only if the file needs flushes

    BlockHeader& header() const { return *reinterpret_cast<BlockHeader*>(data); }
    bool Fits(size_t bytes) const { return data != nullptr && used + bytes <= kBlockBytes; }
  };

  // If records must be flushed by system calls, up to this many bytes of allocations and frees are
  // collected; all other records are flushed at once.
  static constexpr size_t kFlushBytes = 4096;

  uint8_t* Room(OpenBlock& block, size_t bytes) {
    return block.Fits(bytes) ? block.data + block.used : RoomInNext(block);
  }
  void Commit(OpenBlock& block, const uint8_t* end, bool at_once) {
    block.used = static_cast<size_t>(end - block.data);
    // A reader, also after our death, sees only whole records up to this length.
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

  std::unique_ptr<TraceFile> file_;  // null once nothing more can be written
  pid_t owner_;                      // the writing process: a forked child must not write
  bool keeps_;  // a file that keeps only its last part: definitions have their own blocks
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
