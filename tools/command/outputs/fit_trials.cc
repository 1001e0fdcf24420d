// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/fit_trials.h"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "messages/message.h"
#include "tools/analysis/explanation.h"
#include "tools/command/inputs/trace_input.h"
#include "tools/command/inputs/user_files.h"
#include "tools/command/outputs/rank_search.h"
#include "tools/command/outputs/workplace.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/fit/needs/last_step.h"
#include "tools/fit/search.h"
#include "tools/fit/trials/why_failed.h"
#include "tools/fit/whole_job.h"
#include "tools/report/fit/file_sentences.h"
#include "tools/report/fit/fit_document.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/page/fit_page.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/quantity.h"
#include "tools/report/words/text_document.h"

namespace memtrace::command {
namespace {

constexpr std::string_view kTakeBack = "\r\033[K";

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

fit::Outcome Read(const fit::TrialResult& result, const fit::Trial& trial) {
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
    fit::AddResumed(Read(resumed, trial), outcome);
  outcome.kept_away = fit::KeptAwayOf(outcome.annotations);
  if (result.layer)
    outcome.kept_away = fit::WithLayer(std::move(outcome.kept_away), *result.layer, result.saves);
  if (!outcome.completed && !outcome.Failed()) outcome.log_end = fit::LogEnd(result, kLogLines);
  return outcome;
}

bool FailsForOtherReason(const fit::Outcome& outcome) {
  return !outcome.completed && !outcome.is_late && !outcome.Failed();
}

std::string DescribeEnd(const fit::Outcome& outcome) {
  if (outcome.is_late) return Message("reached its time limit");
  if (const auto failed = outcome.Failed())
    return failed->line.empty() ? Message("out of memory")
                                : Message("out of memory at $0", failed->line);
  if (!outcome.completed) return Message("fails");
  if (outcome.would_run_out)
    return Message("completes, but all batches of a moment, of which few ran, do not fit");
  if (outcome.outlook.is_whole) return Message("completes");
  const uint64_t steps = outcome.outlook.steps;
  if (outcome.fits())
    return CountedMessage(steps, "nothing fails in 1 step", "nothing fails in $0 steps",
                          report::FormatCount(steps));
  if (outcome.outlook.climb && outcome.outlook.climb->is_of_floor)
    return Message("nothing fails in $0 steps, but the memory in use grows",
                   report::FormatCount(steps));
  return CountedMessage(steps, "nothing fails in 1 step, but the peak rises",
                        "nothing fails in $0 steps, but the peak rises",
                        report::FormatCount(steps));
}

std::string EndText(const fit::Outcome& outcome) {
  return Message("$0 ($1)", DescribeEnd(outcome),
                 report::FormatSeconds(static_cast<uint64_t>(outcome.seconds * 1e9)));
}

// Moves a folder, if it exists. Sizes that are lost are measured again.
void MoveFolder(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code ignored;
  std::filesystem::create_directories(to.parent_path(), ignored);
  std::filesystem::rename(from, to, ignored);
}

int CodeOf(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kFailedPrecondition ||
      status.code() == absl::StatusCode::kDeadlineExceeded)
    return kUnreadable;
  return status.code() == absl::StatusCode::kInvalidArgument ? kUsage : kEnvironment;
}

int CodeOf(const fit::Answer& answer) {
  if (answer.cards.empty()) return kDone;
  switch (answer.verdict()) {
    case fit::FitVerdict::kFits:
      return answer.is_about_all_ranks() ? kDone : kNotKnown;
    case fit::FitVerdict::kNotKnown:
      return kNotKnown;
    default:
      return kLimitExceeded;
  }
}

std::string TextOf(const fit::Answer& answer, const FitOutput& output) {
  return output.json ? report::JsonFit(answer) : report::TextOf(report::FitDocument(answer));
}

// Returns kInvalidArgument, with a sentence, if the page cannot be written.
absl::Status Print(const fit::Answer& answer, const FitOutput& output) {
  std::cout << (output.page.is_asked() ? "" : TextOf(answer, output))
            << (output.patch ? PatchText(answer) : "") << std::flush;
  if (!output.page.is_asked()) return absl::OkStatus();
  return WritePageFile(output.page.file, report::FitPage(output.title, answer));
}

absl::Status CheckPage(const PageOption& page) {
  const absl::Status wrong = CheckIsPage(page);
  return wrong.ok() ? page.Check() : wrong;
}

// Prints why there is no answer. Returns the exit code.
int ReportSearchFailure(const absl::Status& status, const FitTrials& trials,
                        const fit::Question& question, const FitOutput& output) {
  const std::string reason(status.message());
  if (status.code() == absl::StatusCode::kCancelled) {
    Note(reason);
    return 128 + trials.asked_to_stop();
  }
  if (status.code() == absl::StatusCode::kInvalidArgument) {
    Note(report::Printable(reason));
    return kUsage;
  }
  const std::string own = fit::LastMemtraceSentence(trials.log_end());
  if (output.is_own_program && !own.empty()) {
    Note(report::Printable(own));
    return trials.exit_code();
  }
  if (const std::string place = fit::PlaceAtEnd(trials.log_end()); !place.empty()) {
    Note(Message("$0; it was at $1", reason, report::Printable(place)));
    return CodeOf(status);
  }
  const std::string why = fit::WhyFailed(trials.log_end(), !question.trial.stub.empty());
  Note(why.empty() ? reason : Message("$0: $1", reason, report::Printable(why)));
  PrintLogEnd(trials.log_end());
  return CodeOf(status);
}

// Prints what is known of a search that was stopped, or whose trial took too long. True if anything
// is.
bool PrintPartialAnswer(const FitTrials& trials, const FitOutput& output, fit::Answer& answer) {
  answer.stopped = trials.latest();
  const bool is_known = answer.has_need() || !answer.stopped->outcome.processes.empty();
  if (!is_known) return false;
  const absl::Status printed = Print(answer, output);
  if (!printed.ok()) Note(std::string(printed.message()));
  return true;
}

// Finds the real ranks of the question's job, if the user named none. Prints the end of a failed
// run's output.
absl::Status FindRanksOf(fit::Question& question, const std::filesystem::path& folder,
                         const fit::FileKeeping& keeping, bool is_quiet) {
  if (!question.trial.job || !question.trial.job->is_auto) return absl::OkStatus();
  fit::Trial trial = question.trial;
  trial.command = fit::WithFirstValues(trial.command, question.Options());
  std::string log_end;
  absl::StatusOr<launch::JobRanks> job =
      FindRanks(trial, folder / "ranks", keeping, is_quiet, log_end);
  if (!job.ok()) {
    PrintLogEnd(log_end);
    return job.status();
  }
  question.trial.job = *std::move(job);
  return absl::OkStatus();
}

int RefuseRanks(const absl::Status& status) {
  Note(std::string(status.message()));
  return status.code() == absl::StatusCode::kCancelled ? 128 + SIGINT : CodeOf(status);
}

}  // namespace

void FitTrials::PrintTrialBegin(std::string_view name) const {
  if (progress_ == Progress::kNothing) return;
  std::cerr << "memtrace: " << name << " ..." << std::flush;
}

void FitTrials::PrintTrialEnd(std::string_view name, const std::string& end) const {
  if (progress_ == Progress::kNothing) return;
  if (progress_ == Progress::kTerminal) std::cerr << kTakeBack << "memtrace: " << name << ":";
  std::cerr << " " << end << '\n';
}

absl::StatusOr<fit::Outcome> FitTrials::Run(const fit::Trial& trial, std::string_view name) {
  absl::StatusOr<fit::Outcome> outcome = RunOnce(trial, name);
  const bool may_be_layers = outcome.ok() && FailsForOtherReason(*outcome) &&
                             keeping_.layer_bytes > 0 &&
                             (keeping_.has_own_users || outcome->kept_away.is_full);
  if (!may_be_layers) return outcome;
  const fit::FileKeeping layer = std::exchange(
      keeping_,
      {.why_no_layer = Message("a run failed with a layer, and did not fail without it")});
  absl::StatusOr<fit::Outcome> without =
      RunOnce(trial, Message("$0, without a layer over its files", name));
  if (!without.ok() || FailsForOtherReason(*without)) keeping_ = layer;
  return without;
}

absl::StatusOr<fit::TrialResult> FitTrials::RunIn(const std::filesystem::path& folder,
                                                  const fit::Trial& trial,
                                                  fit::ForkServer* server) {
  MoveFolder(folder_ / fit::kSizesFolder, folder / fit::kSizesFolder);
  absl::StatusOr<fit::TrialResult> result = fit::RunTrial(trial, folder, keeping_, server);
  MoveFolder(folder / fit::kSizesFolder, folder_ / fit::kSizesFolder);
  return result;
}

// Returns the process to fork the trial from, once it is proven that forked runs need the same;
// null if the trial is to be started.
fit::ForkServer* FitTrials::ServerFor(const fit::Trial& trial) {
  fit::ForkServer* server = forks_.ServerFor(trial, keeping_);
  const std::optional<fit::Trial> proof = forks_.Proof();
  if (server == nullptr || !proof) return server;
  const std::filesystem::path folder = folder_ / std::to_string(++number_);
  const absl::StatusOr<fit::TrialResult> result = RunIn(folder, *proof, server);
  if (result.ok()) asked_to_stop_ = result->asked_to_stop;
  forks_.NoteProof(result.ok() && result->is_forked ? std::optional(Read(*result, *proof))
                                                    : std::nullopt);
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return forks_.ServerFor(trial, keeping_);
}

absl::StatusOr<fit::Outcome> FitTrials::RunOnce(const fit::Trial& trial, std::string_view name) {
  PrintTrialBegin(name);
  fit::ForkServer* server = ServerFor(trial);
  if (asked_to_stop_ != 0) {
    PrintTrialEnd(name, Message("stopped"));
    return absl::CancelledError(Message("stopped"));
  }
  const std::filesystem::path folder = folder_ / std::to_string(++number_);
  const absl::StatusOr<fit::TrialResult> result = RunIn(folder, trial, server);
  if (!result.ok()) {
    PrintTrialEnd(name, Message("cannot be run"));
    return result.status();
  }
  asked_to_stop_ = result->asked_to_stop;
  opened_.insert(result->opened.begin(), result->opened.end());
  latest_ = {
      .name = std::string(name), .outcome = Read(*result, trial), .is_late = result->is_late};
  if (result->is_forked) {
    forks_.NoteForked();
  } else {
    forks_.NoteStarted(trial, latest_.outcome, folder);
  }
  PrintTrialEnd(name, asked_to_stop_ != 0 ? Message("stopped") : EndText(latest_.outcome));
  if (latest_.outcome.kept_away.is_full) {
    Note(Message(
        "the run filled the $0 of memory that its files may take; MEMTRACE_FIT_OVERLAY=16GiB gives "
        "it more",
        report::FormatBytes(keeping_.layer_bytes)));
  }
  log_end_ = latest_.outcome.log_end;
  exit_code_ = latest_.outcome.exit_code;
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  if (asked_to_stop_ != 0) return absl::CancelledError(Message("stopped"));
  return latest_.outcome;
}

int RunFitSearch(fit::Question question, const FitOutput& output) {
  if (const absl::Status wrong = output.changes.Check(); !wrong.ok()) return RefuseResult(wrong);
  if (const absl::Status wrong = CheckPage(output.page); !wrong.ok()) return RefuseResult(wrong);
  const absl::StatusOr<Workplace> place = MakeWorkplace();
  if (!place.ok()) {
    Note(std::string(place.status().message()));
    return kEnvironment;
  }
  const std::filesystem::path& folder = place->scratch.path();
  const Progress progress = ProgressFor(output.quiet || output.json);
  const UserFiles files(question.trial.command, folder);
  const bool is_silent = progress == Progress::kNothing;
  if (const absl::Status found = FindRanksOf(question, folder, place->keeping, is_silent);
      !found.ok())
    return RefuseRanks(found);
  FitTrials trials(folder, place->keeping, progress);
  fit::Search search(question, [&trials](const fit::Trial& trial, std::string_view name) {
    return trials.Run(trial, name);
  });
  const absl::Status searched = search.Run();
  fit::Answer answer = search.answer();
  answer.forks = trials.forks().use();
  files.Tell(trials.keeping(), trials.opened(), answer);
  if (searched.ok()) {
    const absl::Status printed = Print(answer, output);
    const absl::Status saved = output.changes.Save(question, answer);
    if (!printed.ok()) return RefuseResult(printed);
    return saved.ok() ? CodeOf(answer) : RefuseResult(saved);
  }
  const bool is_stopped = searched.code() == absl::StatusCode::kCancelled;
  const bool is_told =
      (is_stopped || trials.latest().is_late) && PrintPartialAnswer(trials, output, answer);
  if (!is_told && !answer.changes.names.empty()) Note(report::ChangedFilesText(answer.changes));
  const int code = ReportSearchFailure(searched, trials, question, output);
  if (!is_told || is_stopped) return code;
  return report::IsKnownNotToFit(answer) ? kLimitExceeded : kNotKnown;
}

}  // namespace memtrace::command
