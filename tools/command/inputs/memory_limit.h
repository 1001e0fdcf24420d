// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace memtrace::command {

// What the reader of a file of so many bytes may take of the host's memory, whatever is in it: 4
// times the file and 256 MiB.
constexpr uint64_t MostMemory(uint64_t file_bytes) {
  return 4 * file_bytes + (uint64_t{256} << 20);
}

// Returns what `read` does. While it runs, the process gets no more memory than MostMemory of the
// files at `paths` together, its own code included; if it asks for more, that is said and the
// process ends with kUnreadable, files that it was writing removed. (An exception would have to
// pass through containers of Abseil, which do not survive one.) Without effect if one is no regular
// file. Thread rule: while no other thread runs.
int WithinMemoryLimit(const std::vector<std::string>& paths, const std::function<int()>& read);

// The same of bytes that came from the file at `path` and are in memory already, unpacked.
int WithinMemoryLimitOf(uint64_t bytes, const std::string& path, const std::function<int()>& read);

// What is said of a file that does not.
inline constexpr const char* kTooMuchMemory = "asks for too much memory";

// Whether `read` keeps to the limit of the file: a child process tries, unseen. For verbs that go
// on with other files if it does not.
bool KeepsToMemoryLimit(const std::string& path, const std::function<void()>& read);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_
