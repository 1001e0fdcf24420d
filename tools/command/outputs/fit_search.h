// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_SEARCH_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_SEARCH_H_

#include <string>

#include "tools/command/outputs/changes_file.h"
#include "tools/command/outputs/page_file.h"
#include "tools/fit/answer/question.h"

namespace memtrace::command {

// Options for the output of `fit` and `estimate`.
struct FitOutput {
  bool json = false;
  bool quiet = false;
  bool is_own_program = false;  // memtrace's: its last sentence and exit code are ours
  ChangesFile changes = {};     // the file for the recommended changes
  bool patch = false;           // print these changes as a patch
  PageOption page = {};         // a page instead of text
  std::string title = {};       // of the page
};

// Runs the search, after that for the ranks of a job, prints the answer on stdout and returns the
// exit code: kDone, kLimitExceeded (it does not fit), kNotKnown (it cannot be told), kUnreadable
// (the program fails by itself, or made too few steps in its time), kUsage, kEnvironment, 128 + n
// after signal n. If it is stopped, it prints what is known.
int RunFitSearch(fit::Question question, const FitOutput& output);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_FIT_SEARCH_H_
