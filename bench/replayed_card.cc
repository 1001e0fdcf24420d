// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/replayed_card.h"

#include <variant>
#include <vector>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "base/check.h"

namespace memtrace {
namespace {

constexpr Bytes kGranule = 2_MiB;

class ReplayedCard {
 public:
  ReplayedCard(Bytes card, uint32_t blocks, const SharedPlan& plan)
      : vmm_({.capacity = card}, &streams_, &calls_),
        allocator_({.plan = plan}, vmm_, streams_, nobody_) {
    addresses_.resize(blocks);
  }

  std::optional<OutOfMemoryEvent> Play(const EventSequence::Event& event) {
    DeviceAddress& address = addresses_[event.block];
    if (event.requested == 0) {
      MEMTRACE_CHECK(allocator_.Free(address).ok());
      return std::nullopt;
    }
    AllocationResult result = allocator_.Allocate(event.requested, StreamId{event.stream});
    if (auto* failure = std::get_if<OutOfMemoryEvent>(&result)) return *failure;
    address = std::get<DeviceAddress>(result);
    return std::nullopt;
  }

  Bytes peak_reserved() const {
    return static_cast<Bytes>(allocator_.accounts().statistics().reserved_bytes.all.peak);
  }
  PlanUse plan_use() const { return allocator_.accounts().plan_use(); }
  const CallFailures& calls() const { return calls_; }

 private:
  CallFailures calls_;
  MemoryStreams streams_{&calls_};
  MemoryVmm vmm_;
  AllocationObserver nobody_;
  CachingAllocator allocator_;
  std::vector<DeviceAddress> addresses_;
};

}  // namespace

ReplayOutcome ReplayOn(Bytes card, const EventSequence& sequence, const SharedPlan& plan) {
  ReplayOutcome outcome;
  ReplayedCard replayed(card, sequence.blocks, plan);
  for (const EventSequence::Event& event : sequence.events) {
    outcome.failure = replayed.Play(event);
    if (outcome.failure.has_value()) break;
    ++outcome.events;
  }
  outcome.peak_reserved = replayed.peak_reserved();
  outcome.plan_use = replayed.plan_use();
  outcome.calls = replayed.calls();
  return outcome;
}

Bytes SmallestCard(const EventSequence& sequence, const SharedPlan& plan) {
  Bytes fails = RoundDown(sequence.LivePeak() - 1, kGranule);
  Bytes completes = RoundUp(2 * sequence.LivePeak() + 64_MiB, kGranule);
  MEMTRACE_CHECK(!ReplayOn(completes, sequence, plan).failure.has_value());
  while (completes - fails > kGranule) {
    const Bytes middle = RoundDown(fails + (completes - fails) / 2, kGranule);
    (ReplayOn(middle, sequence, plan).failure.has_value() ? fails : completes) = middle;
  }
  return completes;
}

analysis::MemoryPlan PlanOf(const EventSequence& sequence) {
  analysis::RequestLog log;
  std::vector<std::optional<analysis::RequestLog::Place>> places(sequence.blocks);
  for (const EventSequence::Event& event : sequence.events) {
    if (event.requested == 0) {
      if (places[event.block]) log.Free(*places[event.block]);
    } else {
      places[event.block] = log.Allocate(0, event.stream, RoundedSize(event.requested));
    }
  }
  return analysis::PlanMemory(log);
}

}  // namespace memtrace
