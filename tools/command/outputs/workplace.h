// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_OUTPUTS_WORKPLACE_H_
#define MEMTRACE_TOOLS_COMMAND_OUTPUTS_WORKPLACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "tools/fit/files/file_layer.h"
#include "tools/fit/trials/scratch_folder.h"

namespace memtrace::command {

// The amount of progress printed on stderr while trials run.
enum class Progress : uint8_t {
  kNothing,
  kLines,     // one line a trial: its name when it begins, then how it ended
  kTerminal,  // the same, and a name is erased when its trial has ended
};

// Returns the progress for stderr as it is.
Progress ProgressFor(bool is_silent);

// A temporary folder for trials, and how they keep the user's files.
struct Workplace {
  fit::ScratchFolder scratch;
  fit::FileKeeping keeping;
};

// Errors are those of fit::ScratchFolder::Make and fit::FindFileKeeping.
absl::StatusOr<Workplace> MakeWorkplace();

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_OUTPUTS_WORKPLACE_H_
