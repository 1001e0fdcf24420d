// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROCESS_H_
#define MEMTRACE_INTERPOSE_CORE_PROCESS_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/mutex.h"
#include "interpose/core/cards/card_activities.h"
#include "interpose/core/cards/card_ledgers.h"
#include "interpose/core/cards/process_cards.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/names.h"
#include "interpose/core/outside/outside_memory.h"
#include "interpose/core/outside/outside_recorder.h"
#include "interpose/core/program_callbacks.h"
#include "interpose/core/room/room.h"
#include "interpose/core/spill_policy.h"
#include "interpose/core/stacks/frame_names.h"
#include "interpose/core/stacks/framework_operations.h"
#include "interpose/core/stated_facts.h"
#include "interpose/core/trace_notes.h"
#include "profiler/recorder/recorder.h"

namespace memtrace {

// The composition root: owns the parts that record, and opens the process's cards (ProcessCards).
// There is one a process, never destroyed, because tensors outlive every static destructor. With
// MEMTRACE_TRACE=0 the allocator serves the process and nothing is recorded.
//
// Before Start() there is no trace and no allocator (a process that never uses CUDA leaves no
// file); what the program says about itself until then is kept for the recorder (program_scopes.h).
//
// The child of a fork begins anew and never writes into its parent's trace. If the parent had
// started, CUDA is not available in the child, as with the driver itself: there are no cards, and
// no lock of the parent is touched, because its holder may not exist. Thread rule: any thread.
class Process {
 public:
  static Process& Get() {
    Process* made = instance.load(std::memory_order_acquire);
    return made != nullptr ? *made : Make();
  }

  static constexpr const char* kForked =
      "this process was forked from one that uses CUDA, so it cannot use CUDA; start it with the "
      "method 'spawn'";

  // Opens the trace and makes the cards. Later calls return OK. Nothing is observed without a
  // trace. A start in mode OUTSIDE may come before one in another mode.
  absl::Status Start(int device_count, memtrace_mode mode);

  // Null before Start(), and always if MEMTRACE_TRACE=0 turns the trace off.
  recorder::Recorder* recorder() const { return recorder_.load(std::memory_order_acquire); }

  // Records the cards' activities with CUPTI; null before Start() and unless requested.
  CardActivities* activities() const { return activities_.load(std::memory_order_acquire); }

  // Keeps what the program states before there is a trace.
  StatedFacts& stated() { return stated_; }
  Names& names() { return names_; }
  FrameNames& frames() { return frames_; }
  // Sets a framework's knowledge of backward passes. Must be called before Start().
  void SetOperations(const memtrace_operations& operations) { operations_.Set(operations); }

  ProcessCards& cards() { return cards_; }
  // The memory that the program takes from the driver itself.
  OutsideMemory& outside() { return outside_; }
  ProgramCallbacks& callbacks() { return callbacks_; }
  TraceNotes& notes() { return notes_; }
  // Makes room for requests that the driver refuses.
  Room& room() { return room_; }
  // Makes room for requests of the program's own on a full card.
  SpillPolicy& spill_policy() { return spill_policy_; }

  // True if there is, or will be, a recorder.
  bool is_recorded() const { return is_recorded_; }

  // Writes what was simulated and ends the trace.
  void Close();

  // Returns "" if there is no trace; valid until the process ends.
  const char* trace_path() const;

 private:
  Process();
  static Process& Make();
  void LockForFork();
  void UnlockAfterFork();
  void BeginAnewInForkedChild();
  absl::Status OpenCards(int device_count, memtrace_mode mode)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ListenToOutsideMemory();
  void BeginActivities(memtrace_mode mode);
  void RecordGiven(const Room::Given& given);
  void RecordSpilled(const SpillPolicy::Move& move);
  void OpenTrace();

  static inline std::atomic<Process*> instance = nullptr;

  const bool is_recorded_;
  Mutex mutex_;  // guards starting and closing
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;

  StatedFacts stated_;
  Names names_;
  FrameNames frames_;
  FrameworkOperations operations_;
  OutsideMemory outside_;
  ProgramCallbacks callbacks_;
  std::atomic<recorder::Recorder*> recorder_ = nullptr;
  std::atomic<CardActivities*> activities_ = nullptr;  // leaked, likewise
  std::string trace_path_;                             // fixed once there is a recorder
  const CardLedgers ledgers_{recorder_, outside_};
  ProcessCards cards_{ledgers_, [this](int device) { room_.AnswerNeighbours(device); }};
  Room room_{cards_, [this](const Room::Given& given) { RecordGiven(given); }};
  SpillPolicy spill_policy_{cards_, recorder_,
                            [this](const SpillPolicy::Move& move) { RecordSpilled(move); }};
  TraceNotes notes_{{.recorder = recorder_,
                     .activities = activities_,
                     .cards = cards_,
                     .ledgers = ledgers_,
                     .callbacks = callbacks_,
                     .is_recorded = is_recorded_}};
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROCESS_H_
