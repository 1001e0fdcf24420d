// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/verdict.h"

#include <algorithm>
#include <array>

#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

// A rise in each of this many steps in a row is growth; the states that the first step makes are
// one rise only.
constexpr size_t kRisesThatAreGrowth = 3;

// Returns the live bytes gained by the latest unbroken run of steps that each began with more than
// the one before; 0 if the run is too short to mean anything.
uint64_t Growth(const std::vector<uint64_t>& live_at_steps) {
  size_t rises = 0;
  while (rises + 1 < live_at_steps.size()) {
    const size_t last = live_at_steps.size() - 1 - rises;
    if (live_at_steps[last] <= live_at_steps[last - 1]) break;
    ++rises;
  }
  if (rises < kRisesThatAreGrowth) return 0;
  return live_at_steps.back() - live_at_steps[live_at_steps.size() - 1 - rises];
}

void AddNeedOfStep(Verdict& verdict, const RestOfStep& rest, const Ledger& ledger) {
  verdict.rest = rest;
  if (!rest.rise) return;
  const uint64_t beyond = Less(*rest.rise, Unused(ledger));
  verdict.step_short_by = std::max(beyond, verdict.short_by);
}

// Returns the rise, if it decides anything. A lower bound can show that unused memory would not
// have carried the step, but not that it would have.
std::optional<uint64_t> Decisive(const RestOfStep& rest, const Ledger& ledger) {
  if (rest.at_least && rest.rise && *rest.rise <= Unused(ledger)) return std::nullopt;
  return rest.rise;
}

trace::CardLedger CardOf(const Ledger& ledger) {
  trace::CardLedger card;
  card.total = ledger.total;
  card.context = ledger.positive(LedgerPart::kContext);
  card.free = ledger.positive(LedgerPart::kFree);
  card.cached = ledger.positive(LedgerPart::kCached);
  card.holes = ledger.positive(LedgerPart::kHoles);
  card.private_pools = ledger.positive(LedgerPart::kPrivatePools);
  card.stream_wait = ledger.positive(LedgerPart::kStreamWait);
  card.live_allocated = ledger.positive(LedgerPart::kLive) + ledger.positive(LedgerPart::kRounding);
  card.other_processes = ledger.positive(LedgerPart::kOtherProcesses);
  return card;
}

}  // namespace

std::string_view ContributionName(ContributionKind kind) {
  static constexpr auto kNames = std::to_array<std::string_view>({
#define MEMTRACE_CONTRIBUTION(name, text, meaning) text,
#include "profiler/trace/vocabulary/contributions.def"
#undef MEMTRACE_CONTRIBUTION
  });
  return kNames[static_cast<size_t>(kind)];
}

uint64_t Unused(const Ledger& ledger) {
  return ledger.positive(LedgerPart::kFree) + ledger.positive(LedgerPart::kCached) +
         ledger.positive(LedgerPart::kHoles);
}

Cause CauseOf(const trace::OutOfMemory& event, const Ledger& ledger,
              const trace::FailureFacts& facts) {
  return trace::CauseOfFailure(event, CardOf(ledger), facts);
}

Verdict JudgeFailure(const FailedRequest& failed, const Ledger& ledger,
                     const FailureEvidence& evidence) {
  const std::optional<ForeachCopy>& copy = evidence.copy;
  Verdict verdict;
  // If the account of the card and the segments of a trace differ, only what both state counts.
  const uint64_t cached = ledger.positive(LedgerPart::kCached);
  verdict.releasable = std::min(evidence.releasable.value_or(cached), cached);
  const auto releasable = evidence.releasable ? std::optional(verdict.releasable) : std::nullopt;
  verdict.cause = CauseOf(failed.event, ledger,
                          {.rest_of_step = Decisive(evidence.rest, ledger),
                           .releasable = releasable,
                           .total_known = ledger.total_known});
  verdict.short_by = trace::ShortBy(failed.event);
  verdict.requested = failed.event.requested;
  verdict.is_larger_than_card = trace::IsLargerThanCard(failed.event, CardOf(ledger));
  AddNeedOfStep(verdict, evidence.rest, ledger);
  const uint64_t outside = ledger.positive(LedgerPart::kOutsideAllocator);
  const uint64_t free_in_pools = ledger.positive(LedgerPart::kPrivatePools);
  const auto add = [&verdict](ContributionKind kind, uint64_t bytes) {
    if (bytes > 0 && bytes >= verdict.short_by) verdict.contributing.push_back({kind, bytes});
  };
  add(ContributionKind::kTransient, copy ? copy->copy_bytes : 0);
  add(ContributionKind::kGrowth, Growth(failed.live_at_steps));
  add(ContributionKind::kPrivatePool, evidence.private_pool_bytes + free_in_pools);
  add(ContributionKind::kOutsideAllocator, outside);
  return verdict;
}

}  // namespace memtrace::analysis
