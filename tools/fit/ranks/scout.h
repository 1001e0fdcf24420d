// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_RANKS_SCOUT_H_
#define MEMTRACE_TOOLS_FIT_RANKS_SCOUT_H_

#include <filesystem>
#include <string>

#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/ranks/rank_kinds.h"
#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// Runs rank 0 of the trial's job up to its first backward pass, to find which ranks differ. What it
// writes is kept away from the user's files. `folder` is made for it. If it finds nothing, returns
// kFailedPrecondition (the program fails), kDeadlineExceeded (it reached the time limit) or
// kCancelled with a sentence, and the end of its output in `log_end`; other errors are those of
// RunTrial.
absl::StatusOr<RankKinds> FindRankKinds(Trial trial, const std::filesystem::path& folder,
                                        const FileKeeping& keeping, std::string& log_end);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_RANKS_SCOUT_H_
