// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/outputs/workplace.h"

#include <unistd.h>

#include <utility>

#include "base/status_macros.h"
#include "tools/launch/launch_plan.h"

namespace memtrace::command {

Progress ProgressFor(bool is_silent) {
  if (is_silent) return Progress::kNothing;
  return isatty(STDERR_FILENO) == 0 ? Progress::kLines : Progress::kTerminal;
}

absl::StatusOr<Workplace> MakeWorkplace() {
  MEMTRACE_ASSIGN_OR_RETURN(fit::ScratchFolder scratch, fit::ScratchFolder::Make());
  MEMTRACE_ASSIGN_OR_RETURN(
      fit::FileKeeping keeping,
      fit::FindFileKeeping(launch::CurrentEnvironment(), scratch.path().string()));
  return Workplace{std::move(scratch), std::move(keeping)};
}

}  // namespace memtrace::command
