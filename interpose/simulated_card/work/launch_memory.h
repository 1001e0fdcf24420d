// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_LAUNCH_MEMORY_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_LAUNCH_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/physical_memory.h"
#include "interpose/simulated_card/test_bed/faults.h"
#include "interpose/simulated_card/work/captures.h"

namespace memtrace::card {

// The memory that a launch was given, as far as it is known.
struct GivenMemory {
  std::vector<Address> pointers;                // of a kernel; it may use memory around them
  std::vector<memtrace_card_operand> operands;  // of a library's call, which uses all of them
};

// Looks at the memory that launches were given when they enter a stream, on their own or as part of
// a graph.
//
// - Memory that was taken away (HollowRanges) is a fault, one for each launch. A pointer to the end
//   of memory that is there is none: programs pass the end of an array, where another owner's
//   memory may begin.
// - Operands in the host's memory are counted, because they pass the bus.
//
// Safe from any thread; no lock is held while a fault's owner is asked for.
class LaunchMemory {
 public:
  // All arguments must outlive this.
  LaunchMemory(const AddressSpace& space, const PhysicalMemory& physical, const Captures& captures,
               Faults& faults)
      : space_(space), physical_(physical), captures_(captures), faults_(faults) {}
  LaunchMemory(const LaunchMemory&) = delete;
  LaunchMemory& operator=(const LaunchMemory&) = delete;

  // False if nobody will ask what a launch is given. Three loads.
  bool IsWatched() const {
    return space_.hollows().AreAny() || physical_.HasHostLocated() || captures_.AreAny();
  }

  // `name` is the kernel's or the call's.
  void Launched(const char* name, const GivenMemory& given, bool is_in_graph);

  // Returns the bytes of operands in the host's memory, each counted once a launch.
  std::uint64_t OperandBytesOnHost() const { return operand_bytes_on_host_; }

  // Faults name the owner that `namer` writes; memtrace_card_set_owner_namer.
  using OwnerNamer = int (*)(std::uint64_t address, char* name, std::uint64_t room);
  static void NameOwnersBy(OwnerNamer namer) { owner_namer = namer; }

 private:
  void CheckPointers(const char* name, const GivenMemory& given, bool is_in_graph);
  void CheckOperands(const char* name, const GivenMemory& given, bool is_in_graph);
  std::uint64_t BytesOnHost(const memtrace_card_operand& operand) const;

  static inline std::atomic<OwnerNamer> owner_namer = nullptr;

  const AddressSpace& space_;
  const PhysicalMemory& physical_;
  const Captures& captures_;
  Faults& faults_;
  std::atomic<std::uint64_t> operand_bytes_on_host_ = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_WORK_LAUNCH_MEMORY_H_
