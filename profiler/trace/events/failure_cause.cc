// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/events/failure_cause.h"

#include <algorithm>
#include <array>

namespace memtrace::trace {
namespace {

uint64_t BytesNeeded(const OutOfMemory& event) {
  return std::max(event.requested, event.allocated);
}

bool LimitForbids(const OutOfMemory& event, const CardLedger& card) {
  const uint64_t kept = card.live_allocated + card.stream_wait + card.holes + card.private_pools;
  return event.limit < card.total && kept + BytesNeeded(event) > event.limit &&
         card.free + card.cached >= BytesNeeded(event);
}

// Returns the bytes that nobody uses, even if they are not contiguous.
uint64_t UnusedBytes(const CardLedger& card) { return card.free + card.cached + card.holes; }

bool IsMostlyFree(const CardLedger& card) { return UnusedBytes(card) > card.total / 2; }

bool OthersHoldTheShortfall(const OutOfMemory& event, const CardLedger& card,
                            const FailureFacts& facts) {
  if (card.other_processes == 0) return false;
  if (facts.rest_of_step) return *facts.rest_of_step <= card.other_processes + UnusedBytes(card);
  // Without the rest of the step, small contexts of other processes do not explain a full card.
  constexpr uint64_t kTenth = 10;
  return ShortBy(event) <= card.other_processes && card.other_processes >= card.total / kTenth;
}

bool StreamWaitWouldSuffice(const OutOfMemory& event, const CardLedger& card,
                            const FailureFacts& facts) {
  if (card.stream_wait == 0) return false;
  const bool serves_step =
      !facts.rest_of_step || card.stream_wait + UnusedBytes(card) >= *facts.rest_of_step;
  return serves_step && card.stream_wait + event.obtainable >= BytesNeeded(event);
}

bool CacheWouldSuffice(const OutOfMemory& event, const CardLedger& card,
                       const FailureFacts& facts) {
  const bool is_in_use = card.live_allocated + card.stream_wait > 0;
  const uint64_t releasable = facts.releasable.value_or(is_in_use ? 0 : card.cached);
  // If that much memory is free and the request still fails, the cache is not the reason.
  return card.free < BytesNeeded(event) && card.free + releasable >= BytesNeeded(event);
}

bool DefragmentingWouldSuffice(const OutOfMemory& event, const CardLedger& card,
                               const FailureFacts& facts) {
  // Without a block in use, nothing separates the free pieces.
  if (card.live_allocated + card.stream_wait == 0 || UnusedBytes(card) < BytesNeeded(event))
    return false;
  if (facts.rest_of_step) return UnusedBytes(card) >= *facts.rest_of_step;
  constexpr uint64_t kQuarter = 4;
  return UnusedBytes(card) >= card.total / kQuarter;
}

}  // namespace

std::string_view FailureCauseName(FailureCause cause) {
  static constexpr auto kNames = std::to_array<std::string_view>({
#define MEMTRACE_CAUSE(name, text, meaning) text,
#include "profiler/trace/vocabulary/causes.def"
#undef MEMTRACE_CAUSE
  });
  return kNames[static_cast<size_t>(cause)];
}

uint64_t ShortBy(const OutOfMemory& event) {
  return event.requested - std::min(event.requested, event.obtainable);
}

bool IsLargerThanCard(const OutOfMemory& event, const CardLedger& card) {
  return card.total > 0 && BytesNeeded(event) + card.context > card.total;
}

FailureCause CauseOfFailure(const OutOfMemory& event, const CardLedger& card,
                            const FailureFacts& facts) {
  if (LimitForbids(event, card)) return FailureCause::kLimit;
  if (facts.total_known && IsLargerThanCard(event, card)) return FailureCause::kTooLarge;
  if (CacheWouldSuffice(event, card, facts)) return FailureCause::kCached;
  if (OthersHoldTheShortfall(event, card, facts)) return FailureCause::kOtherProcess;
  if (StreamWaitWouldSuffice(event, card, facts)) return FailureCause::kStreamWait;
  if (facts.total_known && IsMostlyFree(card) && UnusedBytes(card) < BytesNeeded(event))
    return FailureCause::kTooLarge;
  if (DefragmentingWouldSuffice(event, card, facts)) return FailureCause::kFragmentation;
  return FailureCause::kCapacity;
}

const CardLedger* FailedCard(const OutOfMemory& event) {
  const auto card =
      std::find_if(event.cards.begin(), event.cards.end(),
                   [&](const CardLedger& ledger) { return ledger.device == event.device; });
  return card == event.cards.end() ? nullptr : &*card;
}

}  // namespace memtrace::trace
