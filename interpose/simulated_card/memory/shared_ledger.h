// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_LEDGER_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_LEDGER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/shared_memory.h"
#include "interpose/simulated_card/spec/card_spec.h"

namespace memtrace::card {

// A process and the bytes that it holds on a card.
struct ProcessMemory {
  std::uint32_t process;
  std::uint64_t bytes;

  bool operator==(const ProcessMemory&) const = default;
};

// The bytes that each process of one launch holds on the cards that they share, so that two ranks
// on one card run out together. It is a small file in memory, made by the process that starts the
// others (an empty memfd, named in MEMTRACE_CARD_SHARED as /proc/PID/fd/N), and lives as long as
// any process has it open.
//
// Each process has a slot, and a kernel lock on the slot for as long as it lives: however a process
// dies, the others see at once that its slot's bytes are free again. All changes are made under one
// more such lock, which a dying process also releases.
//
// A process that cannot join (the maker is gone, all slots are taken) reports it once and has the
// cards for itself. The child of a fork leaves its parent's slot and joins by itself. Safe from any
// thread; at most one such object is used in a process that forks.
class SharedLedger {
 public:
  // Joins at the first use.
  explicit SharedLedger(std::string path);
  ~SharedLedger();
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;

  // Sets the `bytes` that this process holds on a card, if that is less than before or, together
  // with the others, at most `room`; returns the others' bytes. Otherwise nothing changes.
  // REQUIRES: card < kMaxCards.
  std::optional<std::uint64_t> Hold(std::size_t card, std::uint64_t bytes, std::uint64_t room);
  std::uint64_t HeldByOthers(std::size_t card);
  // Returns the holders of memory that this process does not hold: the others, each with the memory
  // that it lent, even if it has ended since; and this one, if others still have memory that it
  // lent and took back.
  std::vector<ProcessMemory> OtherProcesses(std::size_t card);

  // Lends memory that this process holds to any process that has the returned descriptor, or a
  // duplicate of it: as long as one is open, the card has the memory. This process holds it as
  // before until Reclaim. -1 if the ledger cannot be joined or is full. REQUIRES: this process
  // holds record.bytes on record.card.
  int Lend(const SharedMemoryRecord& record);
  // Ends this process's part in it and closes `descriptor`, which Lend gave; Hold must then give
  // its bytes back. True if no other process has one.
  bool Reclaim(const SharedMemoryRecord& record, int descriptor);

 private:
  static constexpr std::size_t kSlots = 4096;
  using Slot = std::array<std::atomic<std::uint64_t>, kMaxCards>;
  struct Contents {
    std::atomic<std::uint64_t> used_slots;           // slots behind these were never taken
    std::array<Slot, kSlots> slots;                  // of a process, or of memory that was lent
    std::array<SharedMemoryRecord, kSlots> records;  // of lent memory
    std::array<std::atomic<std::uint32_t>, kSlots> processes;  // owners
  };
  class Exclusive;

  bool Join() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Open() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::optional<std::size_t> TakeSlot(int descriptor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t SumOfOthers(std::size_t card) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool IsOwn(std::size_t slot) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static bool Lock(int descriptor, std::size_t place, short type, bool wait);
  bool IsLockedByAnother(std::size_t place) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  int Reopen() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static void BeforeFork();
  static void AfterForkInParent();
  static void AfterForkInChild();

  const std::string path_;
  Mutex mutex_;
  bool has_tried_ ABSL_GUARDED_BY(mutex_) = false;
  int descriptor_ ABSL_GUARDED_BY(mutex_) = -1;
  Contents* contents_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::size_t slot_ ABSL_GUARDED_BY(mutex_) = 0;
  // Memory that is lent and still held: a part of this process's bytes.
  std::array<std::uint64_t, kMaxCards> lent_ ABSL_GUARDED_BY(mutex_) = {};
  std::map<int, std::size_t> lent_slots_ ABSL_GUARDED_BY(mutex_);  // by descriptor
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_SHARED_LEDGER_H_
