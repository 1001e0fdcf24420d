// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace memtrace::command {

// Returns the most host memory that the reader of a file of so many bytes may take, whatever the
// file holds: 4 times the file and 256 MiB.
constexpr uint64_t MostMemory(uint64_t file_bytes) {
  return 4 * file_bytes + (uint64_t{256} << 20);
}

// Calls `read` and returns its result. While it runs, the process gets no more memory than
// MostMemory of the files at `paths` together, including its own code. If it needs more, it prints
// a sentence, removes files that it was writing, and exits with kUnreadable. It exits rather than
// throws, because Abseil's containers are not exception-safe. No limit applies if a path is not a
// regular file. Thread rule: no other thread may run.
int WithinMemoryLimit(const std::vector<std::string>& paths, const std::function<int()>& read);

// The same for bytes that were unpacked into memory from the file at `path`.
int WithinMemoryLimitOf(uint64_t bytes, const std::string& path, const std::function<int()>& read);

// The error of a file whose reader needs more.
inline constexpr const char* kTooMuchMemory = "reading it needs too much memory";

// True if `read` stays within the limit of the file, which a child process tries without output.
// For verbs that go on with other files if it does not.
bool KeepsToMemoryLimit(const std::string& path, const std::function<void()>& read);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_MEMORY_LIMIT_H_
