// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_TRIALS_RESUMED_TRIAL_H_
#define MEMTRACE_TOOLS_FIT_TRIALS_RESUMED_TRIAL_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/fit/trials/trial.h"

namespace memtrace::fit {

// Returns the run that resumes from the checkpoint that `trial` has saved, as the file
// MEMTRACE_FIT_CHECKPOINT names it; nothing if it shall not resume, or if it is not known how.
std::optional<Trial> ResumedTrial(const Trial& trial, const std::filesystem::path& checkpoint);

// Returns the words of a command as a shell splits them: at blanks that are not in quotes.
std::vector<std::string> WordsOf(std::string_view command);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_TRIALS_RESUMED_TRIAL_H_
