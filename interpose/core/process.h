// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_PROCESS_H_
#define MEMTRACE_INTERPOSE_CORE_PROCESS_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "allocator/cuda/open_card.h"
#include "allocator/heap/caching_allocator.h"
#include "base/mutex.h"
#include "interpose/core/card_activities.h"
#include "interpose/core/change_watch.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/names.h"
#include "interpose/core/outside/card_reader.h"
#include "interpose/core/outside/observed_memory.h"
#include "interpose/core/outside/outside_memory.h"
#include "interpose/core/outside/outside_recorder.h"
#include "interpose/core/program_callback.h"
#include "interpose/core/stacks/frame_names.h"
#include "interpose/core/stacks/framework_operations.h"
#include "interpose/core/stacks/python_frames.h"
#include "profiler/recorder/recorder.h"

namespace memtrace {

// The composition root: the only place that makes Vmm, allocator and recorder and reads MEMTRACE_*.
// One a process, never destroyed: tensors outlive every static destructor. With MEMTRACE_TRACE=0
// the allocator serves the process and nothing is recorded.
//
// Before Start() there is no trace and no allocator (a process that never touches CUDA leaves no
// file); what the program says about itself until then is kept and said to the recorder later
// (program_scopes.h).
//
// The child of a fork begins anew and never writes into its parent's trace. If the parent had
// started, CUDA is not to be had in the child, as with the driver itself: there are no cards, and
// no lock of the parent's is touched, for its holder may not exist. Thread rule: any thread.
class Process {
 public:
  static Process& Get() {
    Process* made = instance.load(std::memory_order_acquire);
    return made != nullptr ? *made : Make();
  }

  static constexpr const char* kForked =
      "this process was forked from one that uses CUDA and cannot use it; start processes that do "
      "with the method 'spawn'";

  void SetInfo(std::string key, std::string value);

  // Opens the trace and makes the cards. Done once; later calls return OK. Nothing is observed
  // without a trace. A start in mode OUTSIDE may come before.
  absl::Status Start(int device_count, memtrace_mode mode);

  // Null before Start(), and for good if MEMTRACE_TRACE=0 asked for no trace.
  recorder::Recorder* recorder() const { return recorder_.load(std::memory_order_acquire); }

  // What the cards did, by CUPTI; null unless it is asked for, and before Start().
  CardActivities* activities() const { return activities_.load(std::memory_order_acquire); }

  Names& names() { return names_; }
  PythonFrames& python_frames() { return frames_.python(); }
  NativeFrames& native_frames() { return frames_.native(); }
  // Of a framework with backward passes; before Start().
  void SetOperations(const memtrace_operations& operations) { operations_.Set(operations); }
  ChangeWatch& watch() { return watch_; }

  // Null if there is no such card, or another allocator serves the process.
  CachingAllocator* allocator(int device) const {
    return HasCard(device) ? cards_[static_cast<size_t>(device)].allocator.get() : nullptr;
  }
  // The allocator whose memory `address` is; of one card alone, whatever the address.
  CachingAllocator* owner_of(DeviceAddress address) const {
    CachingAllocator* only = only_.load(std::memory_order_acquire);
    return only != nullptr ? only : allocator(watch_.CardOf(address));
  }
  // allocator(), after LookAtStart(): of the first card in one load, from the second time on.
  CachingAllocator* allocator_in_use(int device) {
    CachingAllocator* quick = device == 0 ? first_in_use_.load(std::memory_order_acquire) : nullptr;
    return quick != nullptr ? quick : LookAndGet(device);
  }
  // The figures of another allocator; null in mode ALLOCATE.
  ObservedMemory* observed(int device) const;
  // What the program takes from the driver itself.
  OutsideMemory& outside() { return outside_; }
  // The figures of a card of a process in mode OUTSIDE; null in others.
  ObservedMemory* alone(int device) const;
  bool is_outside_started() const { return outside_started_.load(std::memory_order_acquire); }

  // To be called when a card may have come into use; costs nothing from the second time on. The
  // first look after the card has its context writes a sample: those before have none.
  void LookAtStart(int device) {
    if (HasCard(device) && !cards_[static_cast<size_t>(device)].reader->has_looked())
      LookNow(cards_[static_cast<size_t>(device)]);
  }
  int device_count() const {
    return is_started() && !is_forked() ? static_cast<int>(cards_.size()) : 0;
  }
  // Whether there is, or will be, a recorder.
  bool is_recorded() const { return is_recorded_; }
  bool is_started() const { return started_.load(std::memory_order_acquire); }
  // From a process that had started, in whatever mode.
  bool is_forked() const { return forked_.load(std::memory_order_acquire); }

  // The figures of the card of `event` as they are now; false if there is no such card.
  bool FillInCard(OutOfMemoryEvent& event) const;

  // Writes an out-of-memory with the ledgers of all cards and returns its explanation for the
  // error's text. No lock of ours or of an allocator may be held.
  std::string NoteOutOfMemory(const OutOfMemoryEvent& event);

  // The ledgers of all cards, into the trace.
  void SampleCards();

  // Called before an out-of-memory is written.
  ProgramCallback& before_out_of_memory() { return before_out_of_memory_; }
  // Frees what nobody needs any more.
  ProgramCallback& collector() { return collector_; }
  // Calls the collector; returns false if there is none or if this thread is in it already.
  bool Collect();

  // Says what was simulated and ends the trace.
  void Close();

  // "" if there is none; valid for ever.
  const char* trace_path() const;

 private:
  struct Card {
    OpenedCard driver;
    std::unique_ptr<CardReader> reader;
    std::unique_ptr<CachingAllocator> allocator;  // mode ALLOCATE
    std::unique_ptr<ObservedMemory> observed;     // mode OBSERVE
    // None of a real card without a context of ours: asking would create one. None either if the
    // driver does not answer: at exit it may be gone.
    std::optional<trace::CardLedger> Ledger(Bytes outside) const;
    // Once the card has a context: what is gone by then, for the ledgers to come.
    void LookAtStart() const {
      if (!reader->has_looked()) LookNow();
    }
    void LookNow() const;
    AllocatorLedger allocator_ledger() const {
      return allocator != nullptr ? allocator->accounts().ledger() : observed->ledger();
    }
  };

  Process();
  static Process& Make();
  CachingAllocator* LookAndGet(int device);
  void LookNow(const Card& card);
  void SampleCard(recorder::Recorder& recorder, const Card& card) const;
  // Who holds what the ledger has under other processes, as far as they are of this launch.
  static void SayOtherProcesses(recorder::Recorder& recorder, const trace::CardLedger& ledger,
                                const CardReader& reader);
  bool HasCard(int device) const { return device >= 0 && device < device_count(); }
  void LockForFork();
  void UnlockAfterFork();
  void BeginAnewInForkedChild();
  absl::StatusOr<std::vector<Card>> MakeCards(int device_count, memtrace_mode mode);
  void HearOfOutside();
  const std::vector<Card>& cards() const { return is_started() ? cards_ : outside_cards_; }
  Bytes OutsideOn(const Card& card) const;
  void BeginActivities(memtrace_mode mode);
  void ReadPlan();
  void SayHowThePlanWent();
  void OpenTrace();
  std::vector<trace::CardLedger> LedgersAt(const OutOfMemoryEvent& event) const;
  void SayFailureOnce();

  static inline std::atomic<Process*> instance = nullptr;

  const bool is_recorded_;
  Mutex mutex_;  // guards starting and closing
  bool closed_ = false;
  mutable Mutex info_mutex_;                 // short, like those of the names and the callbacks
  std::map<std::string, std::string> info_;  // guarded by info_mutex_

  Names names_;
  FrameNames frames_;
  FrameworkOperations operations_;
  ChangeWatch watch_;
  OutsideMemory outside_;
  std::atomic<recorder::Recorder*> recorder_ = nullptr;
  std::atomic<CardActivities*> activities_ = nullptr;  // leaked, likewise
  std::atomic<bool> started_ = false;
  std::atomic<bool> forked_ = false;
  std::vector<Card> cards_;  // fixed once started_ is true
  std::atomic<bool> outside_started_ = false;
  std::vector<Card> outside_cards_;  // of mode OUTSIDE; fixed once outside_started_ is true
  // For the way of every allocation and free. Null while there is more to be looked at.
  std::atomic<CachingAllocator*> only_ = nullptr;          // of the only card
  std::atomic<CachingAllocator*> first_in_use_ = nullptr;  // of card 0
  std::shared_ptr<const Plan> plan_;  // of MEMTRACE_PLAN; null without; fixed likewise
  std::string trace_path_;            // fixed once there is a recorder
  bool has_said_why_ = false;         // there is no trace; likewise

  ProgramCallback before_out_of_memory_;
  ProgramCallback collector_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_PROCESS_H_
