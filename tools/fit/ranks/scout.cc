// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/ranks/scout.h"

#include "absl/status/status.h"
#include "base/environment.h"
#include "base/status_macros.h"
#include "messages/message.h"
#include "tools/fit/trials/running_trial.h"

namespace memtrace::fit {
namespace {

absl::Status FailureOf(const TrialResult& result, uint64_t seconds) {
  if (result.asked_to_stop != 0) return absl::CancelledError(Message("stopped"));
  if (result.is_late)
    return absl::DeadlineExceededError(
        Message("rank 0 did not reach its first backward pass within $0 s, so it is not known "
                "which ranks differ; name them, as in --ranks 0,448",
                seconds));
  return absl::FailedPreconditionError(Message(
      "rank 0 ended with exit code $0 before it was known which ranks differ", result.exit_code));
}

}  // namespace

absl::StatusOr<RankKinds> FindRankKinds(Trial trial, const std::filesystem::path& folder,
                                        const FileKeeping& keeping, std::string& log_end) {
  constexpr size_t kLogLines = 60;  // a traceback through torch and transformers
  const std::string file = (folder / "kinds.json").string();
  trial.job->real = {0};
  trial.job->alike.clear();
  trial.set[env::kRankKinds.name()] = file;
  MEMTRACE_ASSIGN_OR_RETURN(const TrialResult result, RunTrial(trial, folder, keeping));
  absl::StatusOr<RankKinds> found = ReadRankKinds(file);
  // Its exit handler also writes the file if the program fails.
  if (found.ok() && result.exit_code == 0) return found;
  log_end = LogEnd(result, kLogLines);
  return FailureOf(result, trial.seconds);
}

}  // namespace memtrace::fit
