// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_LAYOUT_SEARCH_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_LAYOUT_SEARCH_H_

#include "tools/command/outputs/fit_search.h"
#include "tools/fit/answer/question.h"

namespace memtrace::command {

// Compares all layouts of a job that the question's options make, prints the answer on stdout and
// returns the exit code: kDone (one fits), kLimitExceeded (none does), kNotKnown, kUnreadable (the
// program fails with each of them), kEnvironment, 128 + n after signal n. If it is stopped, it
// prints what is known.
int RunLayoutSearch(const fit::Question& question, const FitOutput& output);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_LAYOUT_SEARCH_H_
