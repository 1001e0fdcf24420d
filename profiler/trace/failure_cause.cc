// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/failure_cause.h"

#include <algorithm>
#include <array>

namespace memtrace::trace {
namespace {

uint64_t Asked(const OutOfMemory& event) { return std::max(event.requested, event.allocated); }

bool LimitForbids(const OutOfMemory& event, const CardLedger& card) {
  const uint64_t kept = card.live_allocated + card.stream_wait + card.holes + card.private_pools;
  return event.limit < card.total && kept + Asked(event) > event.limit &&
         card.free + card.cached >= Asked(event);
}

}  // namespace

std::string_view FailureCauseName(FailureCause cause) {
  constexpr std::array<std::string_view, 6> kNames = {
      "none", "limit", "stream_wait", "fragmentation", "other_process", "capacity"};
  return kNames[static_cast<size_t>(cause)];
}

uint64_t ShortBy(const OutOfMemory& event) {
  return event.requested - std::min(event.requested, event.obtainable);
}

FailureCause CauseOfFailure(const OutOfMemory& event, const CardLedger& card) {
  const uint64_t asked = Asked(event);
  if (LimitForbids(event, card)) return FailureCause::kLimit;
  if (card.stream_wait > 0 && card.stream_wait + event.obtainable >= asked)
    return FailureCause::kStreamWait;
  if (card.free + card.cached + card.holes >= asked) return FailureCause::kFragmentation;
  if (card.other_processes > 0 && ShortBy(event) <= card.other_processes)
    return FailureCause::kOtherProcess;
  return FailureCause::kCapacity;
}

const CardLedger* FailedCard(const OutOfMemory& event) {
  const auto card =
      std::find_if(event.cards.begin(), event.cards.end(),
                   [&](const CardLedger& ledger) { return ledger.device == event.device; });
  return card == event.cards.end() ? nullptr : &*card;
}

}  // namespace memtrace::trace
