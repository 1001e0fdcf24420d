// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/addr2line.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"

namespace memtrace::analysis {
namespace {

constexpr size_t kAtATime = 2000;  // offsets: a command line has at least 128 KiB

std::string ReadToEnd(int descriptor) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = read(descriptor, part.data(), part.size());
    if (count <= 0) return text;
    text.append(part.data(), static_cast<size_t>(count));
  }
}

// Lifts the limit of our memory while a child is started, because the child would inherit it.
class WithoutDataLimit {
 public:
  WithoutDataLimit() {
    if (getrlimit(RLIMIT_DATA, &before_) != 0) return;
    const rlimit none{before_.rlim_max, before_.rlim_max};
    is_lifted_ = setrlimit(RLIMIT_DATA, &none) == 0;
  }
  ~WithoutDataLimit() {
    if (is_lifted_) setrlimit(RLIMIT_DATA, &before_);
  }
  WithoutDataLimit(const WithoutDataLimit&) = delete;
  WithoutDataLimit& operator=(const WithoutDataLimit&) = delete;

 private:
  rlimit before_{};
  bool is_lifted_ = false;
};

bool Start(const std::vector<char*>& arguments, const posix_spawn_file_actions_t& actions,
           pid_t* child) {
  const WithoutDataLimit lifted;
  return posix_spawnp(child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
}

// Returns what the program prints; "" if it cannot be started.
std::string OutputOf(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool is_started = Start(arguments, actions, &child);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  const std::string text = is_started ? ReadToEnd(pipe_ends[0]) : "";
  close(pipe_ends[0]);
  if (is_started) waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

// addr2line answers two lines for each offset: the function, and its place in a source file.
std::vector<std::string> AskAddr2line(const std::string& file,
                                      const std::vector<std::string>& offsets) {
  std::vector<std::string> functions;
  for (size_t at = 0; at < offsets.size(); at += kAtATime) {
    std::vector<std::string> words = {"addr2line", "-f", "-C", "-e", file};
    const size_t count = std::min(kAtATime, offsets.size() - at);
    words.insert(words.end(), offsets.begin() + static_cast<ptrdiff_t>(at),
                 offsets.begin() + static_cast<ptrdiff_t>(at + count));
    const std::vector<std::string> lines = absl::StrSplit(OutputOf(words), '\n');
    if (lines.size() < 2 * count) return functions;
    for (size_t i = 0; i < count; ++i)
      functions.push_back(lines[2 * i] == "??" ? "" : lines[2 * i]);
  }
  return functions;
}

}  // namespace memtrace::analysis
