// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_MEMTRACE_POLICY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_MEMTRACE_POLICY_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/trace_streams.h"

namespace memtrace::replay {

// memtrace's own allocator, running its own code, on a card that exists only as bookkeeping.
class MemtracePolicy : public Policy {
 public:
  // The card has `card` bytes, of which `rest` are not available to the allocator.
  MemtracePolicy(Bytes card, Bytes rest);

  std::optional<Placed> Allocate(const Request& request) override;
  void Free(BlockNumber block) override;
  void RequestFree(BlockNumber block) override;
  void CompleteFree(BlockNumber block) override;
  void EmptyCache() override;

  Bytes peak_allocated() const override;
  Bytes peak_reserved() const override;
  DriverCalls calls() const override;

 private:
  // Records segments and how much the latest block occupies.
  class Watch : public AllocationObserver {
   public:
    void Allocated(const BlockEvent& block) override { latest_ = block.allocated; }
    void Reserved(const RangeEvent& range) override { segments_.push_back(range); }
    Placed Place(BlockNumber block, DeviceAddress address) const;

   private:
    Bytes latest_ = 0;
    std::vector<RangeEvent> segments_;  // in order of appearance; few
  };
  struct Live {
    DeviceAddress address;
    StreamId waits_for{};  // of TraceStreams, once the free was requested
  };

  AllocationResult AllocateIn(uint32_t pool, const CachingAllocator::Request& request);

  CallFailures counted_;
  MemoryVmm vmm_;
  TraceStreams streams_;
  Watch watch_;
  CachingAllocator allocator_;
  std::vector<Live> live_;
  std::vector<BlockNumber> spare_numbers_;
  absl::flat_hash_set<uint32_t> pools_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_MEMTRACE_POLICY_H_
