// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/trial_outcome.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "messages/message.h"
#include "tools/analysis/explanation.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/fit/answer/question.h"
#include "tools/fit/needs/last_step.h"
#include "tools/fit/whole_job.h"

namespace memtrace::command {
namespace {

std::string NameOf(const analysis::RunFacts& facts) {
  return facts.rank.empty() ? Message("process $0", facts.process) : Message("rank $0", facts.rank);
}

// Numbers the cards of a job's process by its rank: ranks of different machines do not share any.
void NumberByRank(const std::string& rank, fit::ProcessNeed& need) {
  int32_t number = 0;
  if (!absl::SimpleAtoi(rank, &number)) return;
  for (fit::CardNeed& card : need.cards) card.card = number;
}

fit::ProgramFacts ProgramOf(const std::map<std::string, std::string>& info) {
  const auto text = [&info](const char* key) {
    const auto found = info.find(key);
    return found == info.end() ? "" : found->second;
  };
  return {text("script"), text("script_version"), text("torch")};
}

void ReadProcess(const std::string& trace, const fit::Trial& trial, fit::Outcome& outcome) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(trace);
  if (!input.ok()) return;
  const absl::StatusOr<analysis::Explanation> explained = analysis::Explain(*input);
  if (!explained.ok()) return;
  fit::ProcessNeed need = fit::NeedOf(*explained);
  // The first request of all may be the one that fails.
  if (need.cards.empty() && !need.failed) return;
  fit::NoteLastStep(*input, *explained, need);
  need.moments = fit::MomentPeaksOf(*input, *explained);
  analysis::RunFacts facts = input->Facts(explained->run.annotations);
  need.name = NameOf(facts);
  if (trial.job) NumberByRank(facts.rank, need);
  if (need.failed && !need.went_on && outcome.edits.empty())
    outcome.edits = fit::EditsAmong(explained->cures.remedies);
  if (outcome.processes.empty()) {
    outcome.annotations.insert(explained->run.annotations.begin(),
                               explained->run.annotations.end());
    outcome.program = ProgramOf(input->info());
    outcome.reads = std::move(facts.simulation.reads);
  }
  outcome.processes.push_back(std::move(need));
}

}  // namespace

fit::Outcome ReadOutcome(const fit::TrialResult& result, const fit::Trial& trial) {
  constexpr size_t kLogLines = 60;  // a traceback through torch and transformers
  fit::Outcome outcome;
  outcome.exit_code = result.exit_code;
  outcome.is_late = result.is_late;
  outcome.seconds = result.seconds;
  for (const std::string& trace : result.traces) ReadProcess(trace, trial, outcome);
  fit::CountOthersOnce(fit::OthersOf(trial), outcome.processes);
  const bool is_out = std::any_of(
      outcome.processes.begin(), outcome.processes.end(),
      [](const fit::ProcessNeed& process) { return process.failed && !process.went_on; });
  outcome.completed = result.exit_code == 0 && !result.is_late && !is_out;
  outcome.outlook = fit::OutlookOf(outcome.processes, fit::CardBytesOf(trial));
  outcome.would_run_out =
      trial.moments == "job" && fit::ExceedsWithUnseen(outcome, fit::CardBytesOf(trial));
  for (const fit::ProcessNeed& process : outcome.processes)
    fit::AddGaps(process.gaps, outcome.gaps);
  for (const fit::TrialResult& resumed : result.resumed)
    fit::AddResumed(ReadOutcome(resumed, trial), outcome);
  outcome.kept_away = fit::KeptAwayOf(outcome.annotations);
  if (result.layer)
    outcome.kept_away = fit::WithLayer(std::move(outcome.kept_away), *result.layer, result.saves);
  if (!outcome.completed && !outcome.Failed()) outcome.log_end = fit::LogEnd(result, kLogLines);
  return outcome;
}

}  // namespace memtrace::command
