// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_
#define MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_

#include <string>
#include <vector>

#include "tools/fit/answer/answer.h"

namespace memtrace::report {

// Names the user's files that have changed meanwhile; "" if none has.
std::string ChangedFilesText(const fit::FolderChanges& changes);

// Says how the user's files were kept from what the runs wrote.
std::string KeepingText(const fit::FileKeeping& keeping);

// Returns the comparison of the user's files; "" for runs that have a layer.
std::string ComparedText(const fit::FileKeeping& keeping, const fit::FolderChanges& changes);

// Returns sentences on what was kept away from the user's files, how, and what was not.
std::vector<std::string> FileTexts(const fit::Answer& answer);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_FIT_FILE_SENTENCES_H_
