// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/replayed_remedies.h"

#include <algorithm>
#include <string>

#include "tools/analysis/replay/replay.h"
#include "tools/analysis/replay/tie_rule.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::command {
namespace {

using remedies::Id;

std::string InfoOf(const TraceInput& input, const std::string& key) {
  const auto& info = input.info();
  const auto found = info.find(key);
  return found == info.end() ? std::string() : found->second;
}

std::string SettingsOf(const TraceInput& input) {
  const std::string settings = InfoOf(input, "environment.PYTORCH_CUDA_ALLOC_CONF");
  return settings.empty() ? InfoOf(input, "environment.PYTORCH_ALLOC_CONF") : settings;
}

struct Alternative {
  replay::PolicyKind policy;
  Id id;
};
constexpr Alternative kAlternatives[] = {
    {replay::PolicyKind::kTorchExpandable, Id::kExpandableSegments},
    {replay::PolicyKind::kMemtrace, Id::kOurAllocator}};

// True if at least a quarter of the most memory that torch's allocator reserved was never
// allocated, even at the peak: it did not fit the sizes that were requested later.
bool ReservesUnusedMemory(const TraceInput& input, const analysis::Explanation& explanation,
                          int32_t device) {
  const auto timeline = explanation.timelines.find(device);
  const bool is_run_of_torch =
      !explanation.failure.request && InfoOf(input, "allocator") == "native";
  if (!is_run_of_torch || timeline == explanation.timelines.end()) return false;
  constexpr uint64_t kPart = 4;
  const uint64_t reserved = timeline->second.most_reserved;
  return reserved - std::min(reserved, timeline->second.most_allocated) >= reserved / kPart;
}

bool IsReplayWorthwhile(const TraceInput& input, const analysis::Explanation& explanation,
                        int32_t device) {
  using analysis::Cause;
  const Cause cause = explanation.failure.verdict.cause;
  return cause == Cause::kFragmentation || cause == Cause::kCached ||
         ReservesUnusedMemory(input, explanation, device);
}

// The request that failed is also replayed, but nothing was recorded after it. So it is known to
// fit only if the program completed or the verdict says that the cache would have served the
// request.
analysis::Remedy RemedyOf(const Alternative& alternative, uint64_t need, analysis::Cause cause) {
  const remedies::Row& row = remedies::RowOf(alternative.id);
  return {.name = std::string(row.name),
          .this_step = need,
          .next_step = {},
          .how_known = "replayed",
          .change = std::string(row.change),
          .cost = std::string(row.cost),
          // Switching the allocator for one request is more work than adding a line before it.
          .effort = cause == analysis::Cause::kCached ? analysis::Effort::kLines : row.effort,
          .at_least = cause == analysis::Cause::kFragmentation};
}

}  // namespace

replay::RecordedRun RecordedRunOf(const TraceInput& input) {
  replay::RecordedRun run = replay::RecordedRun::Of(input, InfoOf(input, "allocator"),
                                                    SettingsOf(input), InfoOf(input, "memtrace"));
  const std::string torch = InfoOf(input, "torch");
  if (torch.empty()) {
    replay::LearnTieRule(input, run);
  } else {
    run.settings.oldest_segment_first = replay::TorchSettings::HasOldestSegmentFirst(torch);
  }
  return run;
}

void AddReplayedRemedies(const TraceInput& input, analysis::Explanation& explanation) {
  if (explanation.growth_is_reason()) return;  // remedies only postpone it
  const int32_t device = explanation.card_of_verdict().index;
  if (!IsReplayWorthwhile(input, explanation, device)) return;
  const analysis::Ledger& ledger = explanation.card_of_verdict().ledger;
  const analysis::Cause cause = explanation.failure.verdict.cause;
  const replay::RecordedRun run = RecordedRunOf(input);
  for (const Alternative& alternative : kAlternatives) {
    // torch does not release its cache for a request inside a pool, expandable or not.
    const bool is_no_help = cause == analysis::Cause::kCached &&
                            alternative.policy == replay::PolicyKind::kTorchExpandable;
    if (is_no_help) continue;
    const auto result = replay::Replay(input, run, {alternative.policy, {}, {}});
    if (result.policy == result.recorded) continue;
    for (const replay::ReplayOutcome& outcome : result.devices) {
      const bool helps = !ledger.total_known || outcome.smallest_card <= ledger.total;
      if (outcome.device != device || !helps) continue;
      explanation.cures.remedies.push_back(RemedyOf(alternative, outcome.smallest_card, cause));
    }
  }
  RankRemedies(explanation.cures.remedies, ledger);
}

}  // namespace memtrace::command
