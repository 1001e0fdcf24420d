// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/layout_search.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <string>

#include "tools/command/inputs/user_files.h"
#include "tools/command/outputs/fit_trials.h"
#include "tools/command/outputs/rank_search.h"
#include "tools/command/outputs/workplace.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/fit/ranks/layouts.h"
#include "tools/fit/trials/why_failed.h"
#include "tools/report/fit/layout_document.h"
#include "tools/report/words/text_document.h"

namespace memtrace::command {
namespace {

int CodeOf(const fit::LayoutAnswer& answer) {
  using Verdict = fit::LayoutVerdict;
  const auto has = [&answer](Verdict verdict) {
    return std::any_of(answer.layouts.begin(), answer.layouts.end(),
                       [verdict](const auto& layout) { return layout.verdict == verdict; });
  };
  if (has(Verdict::kFits)) return fit::UnseenMoments(answer).empty() ? kDone : kNotKnown;
  if (has(Verdict::kNotKnown)) return kNotKnown;
  return has(Verdict::kDoesNotFit) ? kLimitExceeded : kUnreadable;
}

void Print(const fit::LayoutAnswer& answer, const FitOutput& output) {
  std::cout << (output.json ? report::JsonLayouts(answer)
                            : report::TextOf(report::LayoutDocument(answer)))
            << std::flush;
}

}  // namespace

int RunLayoutSearch(const fit::Question& question, const FitOutput& output) {
  const absl::StatusOr<Workplace> place = MakeWorkplace();
  if (!place.ok()) {
    Note(std::string(place.status().message()));
    return kEnvironment;
  }
  const std::filesystem::path& folder = place->scratch.path();
  const Progress progress = ProgressFor(output.quiet || output.json);
  const UserFiles files(question.trial.command, folder);
  FitTrials trials(folder, place->keeping, progress);
  std::string log_end;  // of the latest run that failed
  int searches = 0;
  const auto find_ranks = [&](const fit::Trial& trial) {
    const std::filesystem::path own = folder / ("ranks-" + std::to_string(++searches));
    log_end.clear();
    return FindRanks(trial, own, trials.keeping(), progress == Progress::kNothing, log_end);
  };
  const auto run = [&](const fit::Trial& trial, std::string_view name) {
    absl::StatusOr<fit::Outcome> outcome = trials.Run(trial, name);
    log_end = outcome.ok() ? trials.log_end() : "";
    return outcome;
  };
  const auto why = [&] { return fit::WhyFailed(log_end, !question.trial.stub.empty()); };
  fit::LayoutSearch search(question, run, find_ranks, why);
  const absl::Status searched = search.Run();
  fit::LayoutAnswer answer = search.answer();
  answer.keeping = trials.keeping();
  answer.changes = files.Changes(trials.keeping(), trials.opened());
  if (!answer.layouts.empty()) Print(answer, output);
  if (searched.ok()) return CodeOf(answer);
  Note(std::string(searched.message()));
  if (searched.code() != absl::StatusCode::kCancelled) return kEnvironment;
  return 128 + (trials.asked_to_stop() == 0 ? SIGINT : trials.asked_to_stop());
}

}  // namespace memtrace::command
