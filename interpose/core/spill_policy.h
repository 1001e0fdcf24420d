// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_SPILL_POLICY_H_
#define MEMTRACE_INTERPOSE_CORE_SPILL_POLICY_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocator/accounts/allocation_observer.h"
#include "base/mutex.h"
#include "base/units.h"
#include "interpose/core/cards/process_cards.h"
#include "interpose/core/program_callback.h"
#include "interpose/core/room/victims.h"
#include "profiler/recorder/recorder.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// Decides when memory in use moves off a full card, and which: Spill moves it to the host, and back
// at the end of steps. It is the last that is tried before a request fails, and off unless
// MEMTRACE_SPILL says how much of the host it may take. What moves is chosen by its role, so a
// trace is needed; with MEMTRACE_CUPTI also by its last use (recorder::BlockUses).
//
// Says on stderr what moved: at the first move, and whenever the amount has doubled.
//
// Thread rule: any thread; no lock of an allocator may be held.
class SpillPolicy {
 public:
  struct Move {
    int device = 0;
    bool is_back = false;
    Bytes bytes = 0;
    Bytes copied = 0;
    std::chrono::nanoseconds duration{};
    // Moved to the host: the name of its role, or of its owner, which UnusedName has changed if no
    // operation used it.
    std::string what;
  };
  using Tell = std::function<void(const Move&)>;

  // All references must outlive this. `tell` is called with each move, with no lock held.
  SpillPolicy(ProcessCards& cards, const std::atomic<recorder::Recorder*>& recorder, Tell tell)
      : cards_(cards), recorder_(recorder), tell_(std::move(tell)) {}

  // Is called before memory is chosen, so that roles and idle models are known.
  ProgramCallback& before() { return before_; }
  // States that a model is idle, by addresses within its tensors on that card. Within `before`
  // only, the coldest model first.
  void NoteIdle(int device, std::vector<DeviceAddress> addresses);

  // True if memory of the card may move to the host.
  bool IsOn(int device) const;
  bool IsOnAnyCard() const;

  // Moves what the failed request lacks, unless blocks that were freed on the host still have
  // memory of the card: then gives that free. Returns the bytes that moved, or left the host.
  Bytes MakeRoom(const OutOfMemoryEvent& failure);

  // Ends a step of the program.
  void EndStep();

  struct Counts {
    Bytes moved = 0;
    Bytes came_back = 0;
    uint64_t times = 0;
  };
  Counts counts(int device);

 private:
  enum class Silence { kUnsupported, kThreads, kNoTrace, kHost };

  // REQUIRES: memtrace's allocator serves the card.
  Spill& SpillOf(int device) const { return cards_.allocator(device)->movement().spill(); }
  bool IsAllowed();
  bool HostHasRoom(int device, Bytes wanted);
  void TellMoves(int device, const VictimClasses& classes, const Spill::Moved& moved,
                 std::chrono::nanoseconds duration);
  // Tells that bytes left the host; those that were freed are not copied.
  void TellBack(int device, Bytes bytes, Bytes copied, std::chrono::nanoseconds duration);
  Bytes LeftHost(int device, Bytes on_host);
  void SayMoved(int device, const VictimClasses& classes, const Spill::Moved& moved);
  void NoteRefusal(const absl::Status& status);
  IdleModels TakeIdle(int device, const std::vector<recorder::PlacedBlock>& blocks);
  // Returns the blocks in use of the card, with those that have moved as they were then, and sets
  // the phase of the program.
  std::vector<recorder::PlacedBlock> BlocksInUse(int device, trace::Phase& now);
  void KeepMoved(int device, const std::vector<recorder::PlacedBlock>& blocks,
                 const VictimClasses& classes);
  std::vector<DeviceAddress> OfMovableOwners(int device,
                                             const std::vector<recorder::PlacedBlock>& blocks);
  // Returns the name of the kind's owner, or else of its role.
  std::string NameOf(const VictimKind& kind) const;
  void SayOnce(Silence about, const std::string& sentence);

  ProcessCards& cards_;
  const std::atomic<recorder::Recorder*>& recorder_;
  const Tell tell_;
  ProgramCallback before_;
  std::atomic<bool> is_supported_ = true;
  Mutex mutex_;
  std::set<Silence> said_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Counts> counts_ ABSL_GUARDED_BY(mutex_);
  std::map<int, IdleModels> idle_ ABSL_GUARDED_BY(mutex_);  // addresses within their tensors
  // Blocks that may have moved: the recorder knows of none that has.
  std::map<int, std::map<DeviceAddress, recorder::PlacedBlock>> moved_ ABSL_GUARDED_BY(mutex_);
  std::map<int, Bytes> said_at_ ABSL_GUARDED_BY(mutex_);  // the amount that was last said
};

// Returns the most bytes of MEMTRACE_SPILL for each card; 0 if it is not set, or is no size, which
// one sentence says.
Bytes ReadSpillLimit();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_SPILL_POLICY_H_
