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

// What came of an event sequence that was put to our allocator on a card of bookkeeping.
struct ReplayOutcome {
  std::optional<OutOfMemoryEvent> failure;  // none: it completed
  size_t events = 0;                        // that were served
  Bytes peak_reserved = 0;
  PlanUse plan_use;
  CallFailures calls;  // to the driver, counted by kind
};

// The allocator's own code, without torch; milliseconds for the events of a training run. `plan`
// may be null.
using SharedPlan = std::shared_ptr<const Plan>;
ReplayOutcome ReplayOn(Bytes card, const EventSequence& sequence, const SharedPlan& plan = nullptr);

// The smallest card, to the granule, on which the sequence completes: by bisection, so it is one
// that completes, with a neighbour a granule smaller that does not.
Bytes SmallestCard(const EventSequence& sequence, const SharedPlan& plan = nullptr);

// What `memtrace plan` would make of these events.
analysis::MemoryPlan PlanOf(const EventSequence& sequence);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_REPLAYED_CARD_H_
