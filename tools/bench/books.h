// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_BOOKS_H_
#define MEMTRACE_TOOLS_BENCH_BOOKS_H_

#include <memory>

#include "allocator/plan/plan.h"
#include "base/units.h"
#include "interpose/bench/request_sequence.h"
#include "tools/analysis/planning/memory_plan.h"
#include "tools/bench/tried_allocator.h"

namespace memtrace::bench {

using SharedPlan = std::shared_ptr<const Plan>;

// Returns the plan that `memtrace plan` would make of these requests.
analysis::MemoryPlan PlanOf(const RequestSequence& sequence);

// Our allocator's own code on a card that is only books, without torch and without a driver; a play
// takes milliseconds. `plan` may be null. The sequence outlives it.
class PolicyOnBooks : public TriedAllocator {
 public:
  explicit PolicyOnBooks(const RequestSequence& sequence, SharedPlan plan = nullptr)
      : sequence_(sequence), plan_(std::move(plan)) {}

  bool has_card() const override { return false; }
  PlayOutcome PlayOn(Bytes card, bool stops, bool checks) override;
  std::optional<TimedOutcome> Time(Bytes, int, double) override { return std::nullopt; }
  // Found by bisection: on a card one granule smaller the sequence does not complete.
  std::optional<Bytes> SmallestCard() override;

 private:
  const RequestSequence& sequence_;
  const SharedPlan plan_;
};

// The least that every allocator needs: the bytes of living blocks.
class LowerBound : public TriedAllocator {
 public:
  explicit LowerBound(const RequestSequence& sequence) : sequence_(sequence) {}

  bool has_card() const override { return false; }
  // Fails the requests beyond the card.
  PlayOutcome PlayOn(Bytes card, bool stops, bool checks) override;
  std::optional<TimedOutcome> Time(Bytes, int, double) override { return std::nullopt; }
  std::optional<Bytes> SmallestCard() override;

 private:
  const RequestSequence& sequence_;
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_BOOKS_H_
