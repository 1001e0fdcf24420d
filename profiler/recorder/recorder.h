// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_RECORDER_H_
#define MEMTRACE_PROFILER_RECORDER_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "allocator/accounts/allocation_observer.h"
#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/checkpoint_writer.h"
#include "profiler/recorder/event_clock.h"
#include "profiler/recorder/live_table.h"
#include "profiler/recorder/micro_batch.h"
#include "profiler/recorder/operation_blocks.h"
#include "profiler/recorder/pool_numbers.h"
#include "profiler/recorder/run_account.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/recorder/stack_table.h"
#include "profiler/recorder/tag_scopes.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// What a card did, as it is told.
struct ToldActivity {
  trace::Activity activity;  // start_ns of CLOCK_MONOTONIC; name and block are not set
  std::string_view name;
  uint64_t operation = 0;  // of OperationBlocks; 0: not known
};

// Writes down what happens to the memory of all cards of this process: an observer of our
// allocator, or of whatever the core watches in its place (torch's native allocator).
//
// Order: each event gets its sequence number and its time under the recorder's one short lock, and
// an allocator calls under its card's lock. So the order in the file is the order in which things
// happened, within a card and between cards, and no reader sees an address given twice.
//
// Harmless: nothing here throws, calls out under a lock, or waits for anything but that lock and,
// once in 80,000 events, the extension of the file by 1 MiB. When the file cannot take more,
// recording stops, status() says why, and everything after is counted in lost_events(); names,
// tags and the live table keep working, so that the text of an out-of-memory error does too. When
// host memory runs out, single events are counted as lost. Tables are bounded (see each); the file
// is bounded by the disk. Thread rule: any thread. Lifetime: leak it, or be sure that all threads
// have stopped.
class Recorder final : public AllocationObserver {
 public:
  // `writer` is an open trace, or TraceWriter::Stopped(why there is none). `symbolizer` outlives
  // the recorder.
  Recorder(std::unique_ptr<trace::TraceWriter> writer, FrameSymbolizer& symbolizer);

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

  // Memory from the driver itself, beside the allocator; stack, owner and module are the context's.
  void OutsideAllocated(trace::OutsideAllocate event, uint64_t context);
  void OutsideFreed(const trace::OutsideFree& event);

  // What the cards did. From the first call of TieActivities on it is tied to blocks.
  void TieActivities();
  void NoteActivities(std::span<const ToldActivity> told);

  // What the calling thread is in the middle of (TagScopes), and the context word for an allocation
  // that it makes now. Ask before taking any lock.
  void PushTag(std::string_view name);  // "policy" inside "run": owner "run/policy"
  void PopTag();
  void PushModule(std::string_view path) { PushModule(InternString(path)); }  // "h.3.mlp", whole
  void PushModule(trace::StringId path);
  void PopModule();
  void PushRole(trace::Role role);  // stated of what this thread allocates meanwhile
  void PopRole();
  // Owner and module together, of another thread or of before (CurrentScope there and then).
  ScopeId CurrentScope();
  ScopeId ScopeOfForward(uint64_t sequence) const;  // this thread's operation of that number
  ScopeId ScopeNumber(std::string_view owner, std::string_view module);
  void EnterScope(ScopeId scope);
  void LeaveScope();
  // Lets backward passes be in the scopes of their forward (TagScopes). Outlives the recorder.
  void SetOperations(const OperationSource* operations) { scopes_.SetOperations(operations); }
  trace::StackId InternStack(std::span<const RawFrame> frames);  // innermost first
  uint64_t CurrentContext(trace::StackId stack);
  uint64_t PackContext(const AllocationContext& context);
  AllocationContext UnpackContext(uint64_t context) const;

  // The number of a string, for contexts and labels; 0 for "".
  trace::StringId InternString(std::string_view text);

  // From now on, process-wide. Returns the phase before, for whoever restores it. A forward after a
  // backward of the same step begins the step's next micro-batch.
  trace::Phase SetPhase(trace::Phase phase);
  uint64_t BeginStep();  // returns its number; the first is 1

  // [address, address + size) has this role, owner ("" leaves it) and path. What is known already
  // of a whole block is not written again: hooks repeat themselves every step.
  void Relabel(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
               std::string_view owner, std::string_view path);
  // The same, of what serves [of, ...) of that card, a parameter: a block without an owner gets
  // that block's.
  void RelabelFor(DeviceIndex device, DeviceAddress address, Bytes size, trace::Role role,
                  DeviceAddress of, std::string_view path);
  // A fact by key (format.md lists them); the value it has already is not written again.
  void Annotate(std::string_view key, std::string_view value);
  void SampleCard(const trace::CardLedger& card);

  struct NamedBytes {
    std::string name;  // "optimizer_state policy"; the role alone if there is no owner
    Bytes bytes = 0;   // requested
  };
  // Who holds most on the card now, largest first. Roles that nobody stated are guessed
  // (LikelyRole).
  std::vector<NamedBytes> TopOwners(DeviceIndex device, size_t most) const;

  uint64_t lost_events() const;
  absl::Status status() const;  // why recording stopped; OK while it goes on
  // The same, but only the first time after it happened: for the one line on stderr. Cheap.
  absl::Status TakeFailure();
  std::string path() const;  // of the file as it was created; empty if there is none

  // Ends the file. What happens later is lost.
  void Close();

  // For the child's side of pthread_atfork: from now on the recorder does nothing at all, whatever
  // other threads of the parent were doing with it. The child may make one of its own. Takes no
  // lock: its holder may not exist there.
  void AbandonInForkedChild() ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  // The border: no exception passes (bad_alloc is the only one that could come), and in a forked
  // child nothing is touched, the lock least of all: its holder may not exist there.
  template <typename Action>
  void Guarded(Action action) const {
    if (is_abandoned_.load(std::memory_order_relaxed)) return;
    try {
      action();
    } catch (...) {
      lost_for_memory_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  template <typename E>
  void Append(const E& event) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void Label(DeviceIndex device, DeviceAddress address, Bytes size, const recorder::Label& label)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  // What it was, if it was there; the rest of the recorder is told by the caller.
  std::optional<LiveBlock> Forget(const BlockEvent& block)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  // As of `now`, before an event is written (recorder_upkeep.cc).
  uint64_t Now() ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);  // and looks around if it is time
  void LookAround(uint64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void Summarise(uint64_t now, bool is_last) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void MakeMarks(uint64_t now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(trace_.mutex);
  void Note(const absl::Status& written);

  mutable SharedTrace trace_;
  ContextTable contexts_;
  TagScopes scopes_;
  StackTable stacks_;
  std::atomic<bool> is_abandoned_ = false;
  std::atomic<bool> has_failed_ = false;  // and nobody took the reason yet
  mutable std::atomic<uint64_t> lost_for_memory_ = 0;

  EventClock clock_ ABSL_GUARDED_BY(trace_.mutex);
  LiveTable live_ ABSL_GUARDED_BY(trace_.mutex);
  RunAccount run_ ABSL_GUARDED_BY(trace_.mutex);
  CheckpointWriter checkpoint_ ABSL_GUARDED_BY(trace_.mutex);
  uint64_t look_at_ns_ ABSL_GUARDED_BY(trace_.mutex) = 0;     // when to look around again
  uint64_t summary_at_ns_ ABSL_GUARDED_BY(trace_.mutex) = 0;  // when to write the next one
  uint64_t marks_ ABSL_GUARDED_BY(trace_.mutex) = 0;          // made of those wanted
  uint64_t sequence_ ABSL_GUARDED_BY(trace_.mutex) = 0;
  MicroBatch micro_batch_ ABSL_GUARDED_BY(trace_.mutex);
  PoolNumbers pools_ ABSL_GUARDED_BY(trace_.mutex);
  std::unique_ptr<OperationBlocks> operations_ ABSL_GUARDED_BY(trace_.mutex);  // null: no ties
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_RECORDER_H_
