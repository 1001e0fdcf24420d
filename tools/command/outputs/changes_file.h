// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_CHANGES_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_CHANGES_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "tools/fit/answer/answer.h"
#include "tools/fit/answer/question.h"

namespace memtrace::command {

// The file of `fit --save-plan`.
struct ChangesFile {
  std::string path;  // empty: none is written
  bool overwrite = false;

  // Returns kInvalidArgument with a sentence if the file may not be written.
  absl::Status Check() const;

  // Writes the recommended changes, and says so; says why if there are none. Returns kUnavailable
  // with a sentence if the file cannot be written.
  absl::Status Save(const fit::Question& question, const fit::Answer& answer) const;
};

// Returns the recommended changes as a patch to the user's files, and sentences about those that
// are not in it.
std::string PatchText(const fit::Answer& answer);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_CHANGES_FILE_H_
