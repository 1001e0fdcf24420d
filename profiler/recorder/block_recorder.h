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
#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/event_log.h"
#include "profiler/recorder/live_table.h"
#include "profiler/recorder/operation_blocks.h"
#include "profiler/recorder/pool_numbers.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// What a card did, as it is told.
struct ToldActivity {
  trace::Activity activity;  // start_ns of CLOCK_MONOTONIC; name and block are not set
  std::string_view name;
  uint64_t operation = 0;  // of OperationBlocks; 0: not known
};

struct NamedBytes {
  std::string name;  // "optimizer_state policy"; the role alone if there is no owner
  Bytes bytes = 0;   // requested
};

// Writes down what happens to the memory of all cards of this process, and what it is for: an
// observer of our allocator, or of whatever the core watches in its place (torch's native
// allocator).
//
// An allocator calls under its card's lock, so the order of the events is that of things on a card,
// and no reader sees an address given twice. Errors: as of Recorder. Thread rule: any thread.
class BlockRecorder final : public AllocationObserver {
 public:
  // Both outlive this.
  BlockRecorder(EventLog& log, const ContextTable& contexts) : log_(log), contexts_(contexts) {}

  // AllocationObserver.
  void Allocated(const BlockEvent& block) override;
  void FreeRequested(const BlockEvent& block) override;
  void FreeCompleted(const BlockEvent& block) override;
  void Freed(const BlockEvent& block) override;
  void Reserved(const RangeEvent& range) override;
  void Mapped(const RangeEvent& range) override;
  void Unmapped(const RangeEvent& range) override;
  // Writes nothing: the ledgers of other cards need other locks. Whoever composes the process
  // gathers them without holding a lock, then calls NoteOutOfMemory.
  void OutOfMemory(const OutOfMemoryEvent& event) override;
  void NoteOutOfMemory(const OutOfMemoryEvent& event, std::span<const trace::CardLedger> cards);

  // [address, address + size) has this role, owner and path; "" leaves what was stated. What is
  // known already of a whole block is not written again: hooks repeat themselves every step.
  void Relabel(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
               std::string_view owner, std::string_view path);
  // The same, of what serves [of, ...) of that card, a parameter: a block without an owner gets
  // that block's.
  void RelabelFor(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
                  DeviceAddress of, std::string_view path);

  // Writes what the cards did. From the first call of TieActivities on it is tied to blocks.
  void TieActivities();
  void NoteActivities(std::span<const ToldActivity> told);

  // Returns who holds most on the card now, largest first. Roles that nobody stated are guessed
  // (LikelyRole).
  std::vector<NamedBytes> TopOwners(DeviceIndex device, size_t most) const;

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
