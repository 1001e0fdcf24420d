// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_BLOCK_RECORDER_H_
#define MEMTRACE_PROFILER_RECORDER_BLOCK_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "allocator/accounts/allocation_observer.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/event_log.h"
#include "profiler/recorder/operation_blocks.h"
#include "profiler/recorder/pool_numbers.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// An activity of a card as it is reported to us.
struct ToldActivity {
  trace::Activity activity;  // start_ns is of CLOCK_MONOTONIC; name and block are not set
  std::string_view name;
  uint64_t operation = 0;  // as of OperationBlocks; 0: not known
};

// The blocks in use of one role and one owner.
struct HeldBytes {
  trace::Role role = trace::Role::kUnknown;
  std::string owner = {};  // a tag of the program; may be empty
  Bytes bytes = 0;         // requested
};

// Records what happens to the memory of all cards of this process, and what it is used for. It
// observes our allocator, or the allocator that the core watches in its place (torch's native
// allocator).
//
// An allocator calls it under its card's lock, so the events of a card are in order, and no reader
// sees an address allocated twice. Errors: as of Recorder. Thread rule: any thread.
class BlockRecorder final : public AllocationObserver {
 public:
  // Both must outlive this.
  BlockRecorder(EventLog& log, const ContextTable& contexts) : log_(log), contexts_(contexts) {}

  // Implements AllocationObserver.
  void Allocated(const BlockEvent& block) override;
  void FreeRequested(const BlockEvent& block) override;
  void FreeCompleted(const BlockEvent& block) override;
  void Freed(const BlockEvent& block) override;
  void Reserved(const RangeEvent& range) override;
  void Mapped(const RangeEvent& range) override;
  void Unmapped(const RangeEvent& range) override;
  // Writes nothing, because the ledgers of other cards need other locks. The code that composes the
  // process gathers them without holding a lock, then calls NoteOutOfMemory.
  void OutOfMemory(const OutOfMemoryEvent& event) override;
  void NoteOutOfMemory(const OutOfMemoryEvent& event, std::span<const trace::CardLedger> cards);

  // Gives [address, address + size) this role, owner and path; "" leaves the earlier statement. A
  // label that a whole block already has is not written again, because hooks repeat themselves
  // every step.
  void Relabel(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
               std::string_view owner, std::string_view path);
  // Does the same for memory that belongs to [of, ...) of that card, a parameter: a block without
  // an owner gets that block's owner.
  void RelabelFor(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
                  DeviceAddress of, std::string_view path);

  // TieActivities makes later activities refer to blocks. NoteActivities writes them.
  void TieActivities();
  void NoteActivities(std::span<const ToldActivity> told);

  // Returns the largest holders of the card's memory, largest first. A role that nobody stated is
  // guessed (LikelyRole).
  std::vector<HeldBytes> TopOwners(DeviceIndex device, size_t most) const;

  // Returns the blocks in use of the card, in no order, and sets the phase of the program.
  std::vector<PlacedBlock> BlocksInUse(DeviceIndex device, trace::Phase& now) const;

 private:
  void Label(DeviceIndex device, DeviceAddress address, Bytes size, const trace::Label& label)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_.mutex());

  EventLog& log_;
  const ContextTable& contexts_;
  PoolNumbers pools_ ABSL_GUARDED_BY(log_.mutex());
  std::unique_ptr<OperationBlocks> operations_ ABSL_GUARDED_BY(log_.mutex());  // null: no ties
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_BLOCK_RECORDER_H_
