// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_RANK_SEARCH_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_RANK_SEARCH_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/trials/trial.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::command {

// Finds one rank of each kind for the trial's job by a run of rank 0, whose folder is `folder`, and
// says on stderr what it found, unless `is_quiet`. Errors are those of fit::FindRankKinds; the end
// of that run's output is then in `log_end`.
absl::StatusOr<launch::JobRanks> FindRanks(const fit::Trial& trial,
                                           const std::filesystem::path& folder,
                                           const fit::FileKeeping& keeping, bool is_quiet,
                                           std::string& log_end);

// Does the same for a program that is run only once, in a temporary folder. Prints the end of a
// failed run's output.
absl::StatusOr<launch::JobRanks> FindRanksToRun(const fit::Trial& trial, bool is_quiet);

// Says on stderr if the host's memory is too small for programs with torch as so many ranks.
void PrintIfHostIsSmall(const launch::JobRanks& job);

// Prints a program's last lines on stderr, marked as its own.
void PrintLogEnd(const std::string& log_end);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_RANK_SEARCH_H_
