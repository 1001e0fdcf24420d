// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARD_READER_H_
#define MEMTRACE_INTERPOSE_CORE_CARD_READER_H_

#include <map>
#include <string>

#include "allocator/allocation_observer.h"
#include "allocator/vmm.h"
#include "profiler/trace/event.h"

namespace memtrace {

// What can be known about a card besides the allocator's own figures. On the simulated card all of
// it is exact: the card counts. On a real one the driver only says free and total, so `context` is
// what was gone when we started (other processes included) and the rest is left unexplained.
//
// Thread rule: any thread, after construction.
class CardReader {
 public:
  // REQUIRES: the card's context exists and our allocator holds nothing yet. `at_start` is the
  // driver's word of then.
  CardReader(int device, DeviceMemory at_start);

  int device() const { return device_; }
  bool simulated() const;

  // `allocator` and `now` (the driver's word) are read by the caller at about the same time.
  trace::CardLedger Read(const AllocatorLedger& allocator, DeviceMemory now) const;

 private:
  int device_;
  Bytes context_at_start_;
};

// What the simulation did instead of computing, as annotations: "simulation.kernel_launches" ...
// Empty on a real card.
std::map<std::string, std::string> SimulationFacts();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARD_READER_H_
