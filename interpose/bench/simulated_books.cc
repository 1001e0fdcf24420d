// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/simulated_books.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "interpose/bench/driver_call.h"
#include "interpose/simulated_card/interface/card_control.h"

namespace memtrace::bench {
namespace {

// The calls that an allocator makes to get memory, to give it back, and to wait for work. Others,
// such as questions, cost it nothing.
constexpr std::array<std::string_view, 25> kCounted = {"cuMemAddressReserve",
                                                       "cuMemAddressFree",
                                                       "cuMemCreate",
                                                       "cuMemRelease",
                                                       "cuMemMap",
                                                       "cuMemUnmap",
                                                       "cuMemSetAccess",
                                                       "cuMemAlloc",
                                                       "cuMemAllocManaged",
                                                       "cuMemFree",
                                                       "cuMemAllocAsync",
                                                       "cuMemAllocFromPoolAsync",
                                                       "cuMemFreeAsync",
                                                       "cudaMalloc",
                                                       "cudaMallocManaged",
                                                       "cudaFree",
                                                       "cudaMallocAsync",
                                                       "cudaMallocFromPoolAsync",
                                                       "cudaFreeAsync",
                                                       "cudaDeviceSynchronize",
                                                       "cudaStreamSynchronize",
                                                       "cudaEventSynchronize",
                                                       "cuCtxSynchronize",
                                                       "cuStreamSynchronize",
                                                       "cuEventSynchronize"};

struct memtrace_card_ledger LedgerOf(void* library) {
  struct memtrace_card_ledger ledger {};
  ledger.size = sizeof(ledger);
  CallDriver<int(int, struct memtrace_card_ledger*)>(library, "memtrace_card_ledger", 0, &ledger);
  return ledger;
}

void Count(void* argument, const char* call, uint64_t /*number*/) {
  auto& calls = *static_cast<std::map<std::string, uint64_t>*>(argument);
  const std::string_view text(call);
  const std::string_view name = text.substr(0, text.find_first_of(" ("));
  if (std::find(kCounted.begin(), kCounted.end(), name) != kCounted.end())
    ++calls[std::string(name)];
}

}  // namespace

bool SimulatedBooks::Bound(uint64_t bytes) {
  return CallDriver<int(int, uint64_t)>(library_, "memtrace_card_resize", 0, bytes) == 0;
}

uint64_t SimulatedBooks::InUse() const {
  const struct memtrace_card_ledger ledger = LedgerOf(library_);
  return ledger.total - ledger.free;
}

uint64_t SimulatedBooks::Peak() const { return LedgerOf(library_).peak; }

void SimulatedBooks::StartCalls() { CallDriver<int(int)>(library_, "memtrace_card_log_calls", 1); }

void SimulatedBooks::TakeCalls(std::map<std::string, uint64_t>& calls) {
  auto* visit =
      FindInDriver<void(memtrace_card_visitor, void*)>(library_, "memtrace_card_visit_calls");
  if (visit == nullptr) return;
  visit(Count, &calls);
  StartCalls();
}

}  // namespace memtrace::bench
