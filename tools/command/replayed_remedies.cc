// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/replayed_remedies.h"

#include <string>

#include "tools/analysis/replay/replay.h"

namespace memtrace::command {
namespace {

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
  std::string_view name;
  std::string_view change;
};
constexpr Alternative kExpandable = {replay::PolicyKind::kTorchExpandable, "expandable segments",
                                     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"};
constexpr Alternative kMemtrace = {replay::PolicyKind::kMemtrace, "memtrace's allocator",
                                   "memtrace run -- COMMAND"};

}  // namespace

replay::RecordedRun RecordedRunOf(const TraceInput& input) {
  return replay::RecordedRun::Of(input, InfoOf(input, "allocator"), SettingsOf(input),
                                 InfoOf(input, "memtrace"));
}

void AddReplayedRemedies(const TraceInput& input, analysis::Explanation& explanation) {
  if (explanation.verdict.cause != analysis::Cause::kFragmentation) return;
  if (explanation.growth_is_reason()) return;  // they only postpone it
  const int32_t device = explanation.cards[explanation.card].index;
  const analysis::Ledger& ledger = explanation.cards[explanation.card].ledger;
  const replay::RecordedRun run = RecordedRunOf(input);
  for (const Alternative& alternative : {kExpandable, kMemtrace}) {
    const auto result = replay::Replay(input, run, {alternative.policy, {}, {}});
    if (result.policy == result.recorded) continue;
    for (const replay::ReplayOutcome& outcome : result.devices) {
      const bool helps = !ledger.total_known || outcome.smallest_card <= ledger.total;
      if (outcome.device != device || !helps) continue;
      explanation.remedies.push_back({.name = std::string(alternative.name),
                                      .this_step = outcome.smallest_card,
                                      .next_step = {},
                                      .how_known = "replayed",
                                      .change = std::string(alternative.change),
                                      .cost = "nothing in the program changes",
                                      .effort = analysis::Effort::kSetting,
                                      .at_least = true});
    }
  }
  RankRemedies(explanation.remedies, ledger);
}

}  // namespace memtrace::command
