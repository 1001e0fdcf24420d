// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_BENCH_REPLAYED_CARD_H_
#define MEMTRACE_BENCH_REPLAYED_CARD_H_

#include <optional>

#include "allocator/caching_allocator.h"
#include "allocator/call_failures.h"
#include "allocator/units.h"
#include "bench/event_sequence.h"

namespace memtrace {

// What came of an event sequence that was put to our allocator on a card of bookkeeping.
struct ReplayOutcome {
  std::optional<OutOfMemoryEvent> failure;  // none: it completed
  size_t events = 0;                        // that were served
  Bytes peak_reserved = 0;
  CallFailures calls;  // to the driver, counted by kind
};

// The allocator's own code, without torch; milliseconds for the events of a training run.
ReplayOutcome ReplayOn(Bytes card, const EventSequence& sequence);

// The smallest card, to the granule, on which the sequence completes: by bisection, so it is one
// that completes, with a neighbour a granule smaller that does not.
Bytes SmallestCard(const EventSequence& sequence);

}  // namespace memtrace

#endif  // MEMTRACE_BENCH_REPLAYED_CARD_H_
