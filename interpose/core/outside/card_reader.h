// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_READER_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_READER_H_

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "allocator/accounts/allocation_observer.h"
#include "allocator/card/vmm.h"
#include "interpose/core/outside/launch_processes.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// What can be known about a card besides the allocator's own figures. On the simulated card all of
// it is exact: the card counts. On a real one the driver only says free and total, so `context` is
// what was gone at the first look but for the allocator's, and the rest is left unexplained:
// kernels that were loaded since, streams. If more was gone than any context takes, other processes
// use the card, too: the context then counts as one is usually, and the rest as theirs, at every
// look.
//
// Thread rule: any thread.
class CardReader {
 public:
  explicit CardReader(int device) : device_(device) {}

  int device() const { return device_; }
  bool simulated() const;

  bool has_looked() const { return context_.load(std::memory_order_relaxed) != kNotSeen; }
  // The driver's word and what the allocator had reserved then; only the first look counts.
  void Look(DeviceMemory now, Bytes reserved);

  // The other processes of this one's launch that hold memory of the card; none on a real card,
  // where the driver does not say.
  std::vector<LaunchProcess> OtherProcesses() const;

  // `allocator`, `outside` (what is known to have been taken beside it; the simulated card knows
  // better) and `now` (the driver's word) are read by the caller at about the same time.
  trace::CardLedger Read(const AllocatorLedger& allocator, Bytes outside, DeviceMemory now) const;

 private:
  static constexpr Bytes kNotSeen = ~Bytes{0};

  int device_;
  std::atomic<Bytes> context_ = kNotSeen;
  std::atomic<bool> is_shared_ = false;  // with other processes, as far as the first look tells
};

// What the simulation did instead of computing, as annotations: "simulation.kernel_launches" ...
// Empty on a real card.
std::map<std::string, std::string> SimulationFacts();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_READER_H_
