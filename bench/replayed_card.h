// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_REPLAYED_CARD_H_
#define MEMTRACE_BENCH_REPLAYED_CARD_H_

#include <memory>
#include <optional>

#include "allocator/card/call_failures.h"
#include "allocator/heap/caching_allocator.h"
#include "base/units.h"
#include "bench/event_sequence.h"
#include "tools/analysis/planning/memory_plan.h"

namespace memtrace {

// The result of replaying an event sequence with our allocator on a card that is only bookkeeping.
struct ReplayOutcome {
  std::optional<OutOfMemoryEvent> failure;  // none if it completed
  size_t events = 0;                        // number of events that were served
  Bytes peak_reserved = 0;
  PlanUse plan_use;
  CallFailures calls;  // to the driver, counted by kind
};

// Replays a sequence with the allocator's own code, without torch; this takes milliseconds for the
// events of a training run. `plan` may be null.
using SharedPlan = std::shared_ptr<const Plan>;
ReplayOutcome ReplayOn(Bytes card, const EventSequence& sequence, const SharedPlan& plan = nullptr);

// Returns the smallest card on which the sequence completes. It is found by bisection: on a card
// one granule smaller the sequence does not complete.
Bytes SmallestCard(const EventSequence& sequence, const SharedPlan& plan = nullptr);

// Returns the plan that `memtrace plan` would make of these events.
analysis::MemoryPlan PlanOf(const EventSequence& sequence);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_REPLAYED_CARD_H_
