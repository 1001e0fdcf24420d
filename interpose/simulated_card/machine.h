// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MACHINE_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/backing_file.h"
#include "interpose/simulated_card/memory/card.h"
#include "interpose/simulated_card/memory/contexts.h"
#include "interpose/simulated_card/memory/copies.h"
#include "interpose/simulated_card/memory/device_variables.h"
#include "interpose/simulated_card/memory/host_memory.h"
#include "interpose/simulated_card/memory/imported_blocks.h"
#include "interpose/simulated_card/memory/known_ranges.h"
#include "interpose/simulated_card/memory/memory_pools.h"
#include "interpose/simulated_card/memory/physical_memory.h"
#include "interpose/simulated_card/memory/runtime_heap.h"
#include "interpose/simulated_card/memory/shared_ledger.h"
#include "interpose/simulated_card/spec/event_timing.h"
#include "interpose/simulated_card/spec/installed_cards.h"
#include "interpose/simulated_card/test_bed/faults.h"
#include "interpose/simulated_card/test_bed/listening.h"
#include "interpose/simulated_card/test_bed/watched_calls.h"
#include "interpose/simulated_card/work/captures.h"
#include "interpose/simulated_card/work/code/kernel_writes.h"
#include "interpose/simulated_card/work/code/kernels.h"
#include "interpose/simulated_card/work/code/modules.h"
#include "interpose/simulated_card/work/events.h"
#include "interpose/simulated_card/work/graph_execs.h"
#include "interpose/simulated_card/work/graph_memory.h"
#include "interpose/simulated_card/work/graphs.h"
#include "interpose/simulated_card/work/launch_memory.h"
#include "interpose/simulated_card/work/memory_uses.h"
#include "interpose/simulated_card/work/progress.h"
#include "interpose/simulated_card/work/stream_table.h"
#include "interpose/simulated_card/work/streams.h"

namespace memtrace::card {

// The behavior of the cards, beside their specifications.
struct MachineSettings {
  EventTiming timing;
  std::vector<PlannedFailure> failures;
  std::string shared_ledger;              // empty: no other process has these cards
  std::vector<std::size_t> ledger_cards;  // each card's index there; empty: its own
  bool host_values = false;               // keep each byte's Known state
  std::uint64_t host_located = ~0ull;     // the most memory of the host at addresses of cards
};

// All simulated cards of a process and the parts that they share. The entry points of libcuda find
// it by OfProcess(); tests make their own. Safe from any thread.
struct Machine {
  explicit Machine(const std::vector<CardSpec>& specs, std::uint64_t copy_limit,
                   const MachineSettings& settings = {});

  // Returns the process's machine, made by the first call from MEMTRACE_CARD, CUDA_VISIBLE_DEVICES
  // and MEMTRACE_CARD_* (docs/design/simulated-card.md); null if there is no card or one of them is
  // wrong. Never destroyed, because other libraries call us after our own destructors.
  static Machine* OfProcess();
  // True if OfProcess() has been called, also if there is no card.
  static bool IsMade();

  int DeviceCount() const { return static_cast<int>(cards.size()); }
  bool HasDevice(int device) const { return device >= 0 && device < DeviceCount(); }
  Card& CardAt(int device) { return *cards[static_cast<std::size_t>(device)]; }

  // Ends a context: waits for its work, and gives back what cuMemAlloc, cuMemAllocHost and
  // cuMemAllocManaged made in it.
  void EndContext(const Context& context);

  // The members are in order of dependency. Each is safe from any thread by itself; in Progress,
  // StreamTable and Captures only the functions that say so.
  //
  // Lock order: a thread that holds one of these may take those to its right, never one to its
  // left.
  //   MemoryPools, Modules, DeviceVariables > RuntimeHeap > AddressSpace > PhysicalMemory
  //   PhysicalMemory > BackingFile; PhysicalMemory, Contexts > Card > SharedLedger
  //   ImportedBlocks, GraphMemory > AddressSpace
  //   AddressSpace > HollowRanges
  //   MemoryUses > Progress, Faults
  //   Graphs > GraphMemory's index, then AddressSpace: the last block of a graph goes with its node
  std::unique_ptr<SharedLedger> shared;  // may be null
  Cards cards;
  BackingFile file;
  PhysicalMemory physical;
  std::unique_ptr<KnownRanges> known;  // null without host values
  AddressSpace space;
  RuntimeHeap heap;
  ImportedBlocks imported;
  HostMemory host_memory;
  Copies copies;
  GraphMemory graph_memory;  // before graphs, which hold its blocks
  Contexts contexts;
  Listening listening;
  Graphs graphs;
  GraphExecs graph_execs;
  Progress progress;
  StreamTable stream_table;
  Captures captures;
  Faults faults;
  LaunchMemory launch_memory;
  Streams streams;
  Events events;
  std::unique_ptr<KernelWrites> kernel_writes;  // null without host values
  Kernels kernels;
  RuntimeHeap variables;  // of modules: charged as part of the context
  DeviceVariables device_variables;
  Modules modules;
  HostMemory managed;
  MemoryPools pools;
  MemoryUses uses;
  WatchedCalls calls;
};

// Returns the cards that CUDA_VISIBLE_DEVICES leaves visible (VisibleIndices).
std::vector<CardSpec> VisibleCards(const std::vector<CardSpec>& cards, const char* visible_devices);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MACHINE_H_
