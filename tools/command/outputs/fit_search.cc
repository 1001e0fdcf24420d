// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/fit_search.h"

#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/message.h"
#include "tools/command/inputs/user_files.h"
#include "tools/command/outputs/fit_trials.h"
#include "tools/command/outputs/rank_search.h"
#include "tools/command/outputs/workplace.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/fit/search.h"
#include "tools/fit/trials/why_failed.h"
#include "tools/report/fit/file_sentences.h"
#include "tools/report/fit/fit_document.h"
#include "tools/report/fit/fit_json.h"
#include "tools/report/fit/verdict_sentences.h"
#include "tools/report/page/fit_page.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/text_document.h"

namespace memtrace::command {
namespace {

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
  FitTrials trials(folder, place->keeping, progress, question.runs_at_once);
  const fit::Runner runner(
      [&trials](const fit::Trial& trial, std::string_view name) { return trials.Run(trial, name); },
      [&trials](const std::vector<fit::Trial>& next) { trials.WillRun(next); });
  fit::Search search(question, runner);
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
