// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_

#include <string>
#include <vector>

#include "tools/fit/answer.h"

namespace memtrace::report {

// The user's files that have changed meanwhile, by name; "" if none has.
std::string ChangedFilesText(const fit::FolderChanges& changes);

// What was kept away from the user's files, how, and what was not: a sentence or two each.
std::vector<std::string> FileTexts(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_
