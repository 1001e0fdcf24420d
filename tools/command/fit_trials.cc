// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/fit_trials.h"

#include <unistd.h>

#include <iostream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/analysis/explanation.h"
#include "tools/command/exit_code.h"
#include "tools/command/program.h"
#include "tools/command/trace_input.h"
#include "tools/fit/card_limit.h"
#include "tools/fit/scratch_folder.h"
#include "tools/fit/search.h"
#include "tools/fit/why_failed.h"
#include "tools/report/fit/fit_document.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/printable.h"
#include "tools/report/quantity.h"
#include "tools/report/text_document.h"

namespace memtrace::command {
namespace {

constexpr std::string_view kTakeBack = "\r\033[K";

std::string NameOf(const analysis::RunFacts& facts) {
  return facts.rank.empty() ? "process " + facts.process : "rank " + facts.rank;
}

void ReadProcess(const std::string& trace, fit::Outcome& outcome) {
  const absl::StatusOr<TraceInput> input = TraceInput::Open(trace);
  if (!input.ok()) return;
  const absl::StatusOr<analysis::Explanation> explained = analysis::Explain(*input);
  if (!explained.ok()) return;
  fit::ProcessNeed need = fit::NeedOf(*explained);
  if (need.cards.empty()) return;
  analysis::RunFacts facts = input->Facts(explained->annotations);
  need.name = NameOf(facts);
  if (outcome.processes.empty()) {
    outcome.annotations.insert(explained->annotations.begin(), explained->annotations.end());
    outcome.reads = std::move(facts.simulation.reads);
  }
  outcome.processes.push_back(std::move(need));
}

fit::Outcome Read(const fit::TrialResult& result, const fit::Trial& trial) {
  constexpr size_t kLogLines = 60;  // a traceback through torch and transformers
  fit::Outcome outcome;
  outcome.exit_code = result.exit_code;
  outcome.is_late = result.is_late;
  outcome.completed = result.exit_code == 0 && !result.is_late;
  outcome.seconds = result.seconds;
  for (const std::string& trace : result.traces) ReadProcess(trace, outcome);
  fit::CountOthersOnce(fit::OthersOfCards(trial.cards), outcome.processes);
  if (!outcome.completed && !outcome.Failed()) outcome.log_end = fit::LogEnd(result, kLogLines);
  return outcome;
}

std::string EndText(const fit::Outcome& outcome) {
  std::string end = outcome.completed ? "completes" : "fails";
  if (const auto failed = outcome.Failed()) end = "runs out of memory at " + failed->line;
  return end + " (" + report::FormatSeconds(static_cast<uint64_t>(outcome.seconds * 1e9)) + ")";
}

// What the program printed last, told as that.
void TellLog(const std::string& log_end) {
  constexpr size_t kLines = 12;
  const std::vector<absl::string_view> lines = absl::StrSplit(log_end, '\n', absl::SkipEmpty());
  std::vector<absl::string_view> told;
  bool is_ours = false;  // a frame of memtrace's own package, and its line of code
  for (const absl::string_view line : lines) {
    const bool is_frame = absl::StartsWith(line, "  File \"");
    if (is_frame) is_ours = absl::StrContains(line, "/memtrace/_");
    if (!absl::StartsWith(line, "  ")) is_ours = false;
    if (!is_ours) told.push_back(line);
  }
  for (size_t i = told.size() - std::min(told.size(), kLines); i < told.size(); ++i)
    std::cerr << "  | " << report::Printable({told[i].data(), told[i].size()}) << "\n";
}

int CodeOf(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kFailedPrecondition) return kUnreadable;
  return status.code() == absl::StatusCode::kInvalidArgument ? kUsage : kEnvironment;
}

// Says why there is no answer; gives the exit code.
int TellFailure(const absl::Status& status, const FitTrials& trials, const fit::Question& question,
                const FitOutput& output) {
  if (status.code() == absl::StatusCode::kCancelled) {
    Note(std::string(status.message()));
    return 128 + trials.asked_to_stop();
  }
  const std::string own = fit::OwnSentence(trials.log_end());
  if (output.is_own_program && !own.empty()) {
    Note(report::Printable(own));
    return trials.exit_code();
  }
  if (const std::string place = fit::PlaceAtEnd(trials.log_end()); !place.empty()) {
    Note(std::string(status.message()) + "; it was at " + report::Printable(place));
    return CodeOf(status);
  }
  const std::string why = fit::WhyFailed(trials.log_end(), !question.trial.stub.empty());
  Note(std::string(status.message()) + (why.empty() ? "" : ": " + report::Printable(why)));
  TellLog(trials.log_end());
  return CodeOf(status);
}

}  // namespace

absl::StatusOr<fit::Outcome> FitTrials::Run(const fit::Trial& trial, std::string_view name) {
  const std::filesystem::path folder = folder_ / std::to_string(++number_);
  if (says_progress_) std::cerr << "memtrace: " << name << " ..." << std::flush;
  absl::StatusOr<fit::TrialResult> result = fit::RunTrial(trial, folder);
  if (says_progress_) std::cerr << kTakeBack << std::flush;
  if (!result.ok()) return result.status();
  asked_to_stop_ = result->asked_to_stop;
  if (asked_to_stop_ != 0) return absl::CancelledError("stopped; nothing is known yet");
  fit::Outcome outcome = Read(*result, trial);
  if (says_progress_) Note(absl::StrCat(std::string(name), ": ", EndText(outcome)));
  log_end_ = outcome.log_end;
  exit_code_ = outcome.exit_code;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return outcome;
}

int AskFit(const fit::Question& question, const FitOutput& output) {
  absl::StatusOr<fit::ScratchFolder> scratch = fit::ScratchFolder::Make();
  if (!scratch.ok()) {
    Note(std::string(scratch.status().message()));
    return kEnvironment;
  }
  const bool is_silent = output.quiet || output.json || isatty(STDERR_FILENO) == 0;
  FitTrials trials(scratch->path(), !is_silent);
  fit::Search search([&trials](const fit::Trial& trial, std::string_view name) {
    return trials.Run(trial, name);
  });
  const absl::StatusOr<fit::Answer> answer = search.Run(question);
  if (!answer.ok()) return TellFailure(answer.status(), trials, question, output);
  std::cout << (output.json ? report::JsonFit(*answer)
                            : report::TextOf(report::FitDocument(*answer)))
            << std::flush;
  return answer->cards.empty() || answer->fits() ? kDone : kLimitExceeded;
}

}  // namespace memtrace::command
