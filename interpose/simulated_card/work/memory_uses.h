// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_MEMORY_USES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_MEMORY_USES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/test_bed/faults.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream_table.h"

namespace memtrace::card {

// Tracks which unfinished work uses which device memory, to detect memory that is removed too
// early: cuMemUnmap does not wait. Two kinds of use can be known.
//
// - Named uses: copies, fills, and uses that a program reports by memtrace_card_note_use. Removing
//   such memory before that work is finished is a fault, whichever stream it is in.
// - Launches: their arguments are opaque, so a kernel may use anything that was accessible when it
//   was launched. Unmapping is a fault if launches since then are unfinished and the host has,
//   since then, waited for no stream that is idle now. So a program that waits for nothing is
//   always caught, one that waits for the wrong one of several streams only by its named uses.
//
// Nothing is noted while the streams do not defer. Safe from any thread.
class MemoryUses {
 public:
  // All arguments must outlive this.
  MemoryUses(const Progress& progress, const StreamTable& streams, Faults& faults)
      : progress_(progress), streams_(streams), faults_(faults) {}
  MemoryUses(const MemoryUses&) = delete;
  MemoryUses& operator=(const MemoryUses&) = delete;

  // `call` must be a literal. Host ranges are ignored.
  void Used(Address begin, std::uint64_t bytes, const Work& work, const char* call);
  // A copy found one of its sides not mapped, or not accessible.
  void Missed(Address to, Address from, std::uint64_t bytes, const char* call);

  // From now on, launches may use it.
  void MadeAccessible(const std::vector<MappedRange>& mappings);
  void Mapped(HandleId handle, Address begin, const char* call);
  // Reports all mappings at once, after the call succeeded.
  void Unmapped(const std::vector<MappedRange>& mappings, const char* call);
  void Released(HandleId handle, const char* call);
  // For cudaFree, which has waited: only remembers which call to blame for later accesses.
  void Freed(Address begin, std::uint64_t bytes, const char* call);

 private:
  struct Use {
    Address begin;
    Address end;
    Work work;
    const char* call = nullptr;
  };
  // A removed range and the call that removed it.
  struct Grave {
    Address begin;
    Address end;
    const char* call = nullptr;
  };

  void CheckNamed(const MappedRange& mapping, const char* call);
  void CheckLaunches(const MappedRange& mapping, const char* call);
  void CheckLeftOver(HandleId handle, const char* call, const std::string& what);
  void RecordFreedRange(Address begin, std::uint64_t bytes, const char* call);
  void ForgetFinished();

  const Progress& progress_;
  const StreamTable& streams_;
  Faults& faults_;
  Mutex mutex_;  // guards the members below
  std::vector<Use> uses_;
  std::size_t forget_at_ = 256;                     // uses; becomes twice the number that remain
  std::map<HandleId, std::vector<Use>> left_over_;  // of memory unmapped too early
  std::map<Address, Tick> accessible_since_;        // of mappings
  std::deque<Grave> graves_;                        // the latest ones
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_MEMORY_USES_H_
