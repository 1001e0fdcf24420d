// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PROGRAM_WHOLE_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_PROGRAM_WHOLE_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace memtrace::command {

// Returns all bytes of a file. It copies instead of mapping, because a file that is truncated
// meanwhile must not end the program. Errors: a sentence that names the file; an empty file is
// kInvalidArgument.
absl::StatusOr<std::string> ReadWhole(const std::string& path);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PROGRAM_WHOLE_FILE_H_
