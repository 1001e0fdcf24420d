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

// Reads what is known about a card besides the allocator's own figures. On the simulated card all
// of it is exact, because the card counts. On a real card the driver tells only free and total
// bytes, so `context` is what was in use at the first look, less the allocator's memory; later
// growth, such as kernels loaded since and streams, is left unexplained. If more was in use than
// any context takes, other processes also use the card: from then on the context counts with its
// usual size and the rest as theirs, at every look.
//
// Thread rule: any thread.
class CardReader {
 public:
  explicit CardReader(int device) : device_(device) {}

  int device() const { return device_; }
  bool simulated() const;

  bool has_looked() const { return context_.load(std::memory_order_relaxed) != kNotSeen; }
  // `now` is the driver's answer, `reserved` the allocator's bytes at that moment; only the first
  // look counts.
  void Look(DeviceMemory now, Bytes reserved);

  // Returns the other processes of this process's launch that hold memory of the card; none on a
  // real card, where the driver does not tell.
  std::vector<LaunchProcess> OtherProcesses() const;

  // The caller reads `allocator`, `outside` (bytes known to be taken beside it; the simulated card
  // has better figures) and `now` (the driver's answer) at about the same time.
  trace::CardLedger Read(const AllocatorLedger& allocator, Bytes outside, DeviceMemory now) const;

 private:
  static constexpr Bytes kNotSeen = ~Bytes{0};

  int device_;
  std::atomic<Bytes> context_ = kNotSeen;
  std::atomic<bool> is_shared_ = false;  // with other processes, judged at the first look
};

// Returns what was simulated instead of computed, as annotations: "simulation.kernel_launches" ...
// Empty on a real card.
std::map<std::string, std::string> SimulationFacts();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_READER_H_
