// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict.h"

#include <algorithm>

namespace memtrace::analysis {
namespace {

// A rise in each of this many steps in a row is growth; the states that the first step makes are
// one rise only.
constexpr size_t kRisesThatAreGrowth = 3;

// Live bytes gained by the latest unbroken run of steps that each began with more than the one
// before; 0 if the run is too short to mean anything.
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

void AddNeedOfStep(Verdict& verdict, const FailedRequest& failed,
                   const std::optional<ForeachCopy>& copy) {
  if (failed.rise_of_previous_step) {
    const uint64_t rise = *failed.rise_of_previous_step;
    verdict.step_short_by = rise - std::min(rise, failed.event.obtainable);
    verdict.step_need = NeedSource::kPreviousStep;
  } else if (copy) {
    verdict.step_short_by = copy->still_needed;
    verdict.step_need = NeedSource::kForeachCopy;
  } else {
    return;
  }
  verdict.step_short_by = std::max(*verdict.step_short_by, verdict.short_by);
}

}  // namespace

Cause CauseOf(const trace::OutOfMemory& event, const Ledger& ledger) {
  trace::CardLedger card;
  card.total = ledger.total;
  card.free = ledger.positive("free");
  card.cached = ledger.positive("cached");
  card.holes = ledger.positive("holes");
  card.private_pools = ledger.positive("private_pools");
  card.stream_wait = ledger.positive("stream_wait");
  card.live_allocated = ledger.positive("live") + ledger.positive("rounding");
  card.other_processes = ledger.positive("other_processes");
  return trace::CauseOfFailure(event, card);
}

Verdict JudgeFailure(const FailedRequest& failed, const Ledger& ledger,
                     const std::optional<ForeachCopy>& copy, uint64_t private_pool_bytes) {
  Verdict verdict;
  verdict.cause = CauseOf(failed.event, ledger);
  verdict.short_by = trace::ShortBy(failed.event);
  verdict.requested = failed.event.requested;
  AddNeedOfStep(verdict, failed, copy);
  const uint64_t outside = ledger.positive("outside_allocator");
  const uint64_t free_in_pools = ledger.positive("private_pools");
  const auto add = [&verdict](std::string_view name, uint64_t bytes) {
    if (bytes > 0 && bytes >= verdict.short_by) verdict.contributing.push_back({name, bytes});
  };
  add("transient", copy ? copy->copy_bytes : 0);
  add("growth", Growth(failed.live_at_steps));
  add("private_pool", private_pool_bytes + free_in_pools);
  add("outside_allocator", outside);
  return verdict;
}

}  // namespace memtrace::analysis
