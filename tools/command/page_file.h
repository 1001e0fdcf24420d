// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_PAGE_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_PAGE_FILE_H_

#include <string>

#include "absl/status/status.h"

namespace memtrace::command {

// Writes a page, and says so. kInvalidArgument: a sentence.
absl::Status WritePageFile(const std::string& path, const std::string& html);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_PAGE_FILE_H_
