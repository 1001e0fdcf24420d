// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_FOREIGN_FILE_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_FOREIGN_FILE_H_

#include <optional>
#include <string>
#include <string_view>

namespace memtrace::command {

// Returns the first bytes of the file, as many as RecogniseFileKind and AdviceOn need.
std::string FirstBytes(const std::string& path);

// Returns the kind of a file that is no trace by its first bytes, such as "JSON"; nothing if it is
// not known.
std::optional<std::string> RecogniseFileKind(std::string_view bytes);

// Returns the next step for such a file, such as "; git lfs pull fetches the file"; "" if none is
// known.
std::string AdviceOn(std::string_view bytes);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_FOREIGN_FILE_H_
