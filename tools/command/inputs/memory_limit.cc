// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/memory_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "absl/strings/str_join.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/output_file.h"
#include "tools/command/program/program.h"

namespace memtrace::command {
namespace {

// Pages of the program and of its libraries, which RLIMIT_DATA does not count.
constexpr uint64_t kCode = uint64_t{32} << 20;

// A sanitizer's own memory is far more than any limit.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// The data that the new handler needs, prepared while memory is available.
struct Refusal {
  std::string sentence;
  rlimit before{};
};
Refusal& CurrentRefusal() {
  static Refusal refusal;
  return refusal;
}

[[noreturn]] void RefuseMore() {
  setrlimit(RLIMIT_DATA, &CurrentRefusal().before);
  OutputFile::RemoveTemporaries();
  Note(CurrentRefusal().sentence);
  _exit(kUnreadable);
}

// While it lives, the process ends if it needs more than this many bytes in all.
class DataLimit {
 public:
  DataLimit(uint64_t bytes, std::string sentence) {
    rlimit& before = CurrentRefusal().before;
    if (kSanitized || getrlimit(RLIMIT_DATA, &before) != 0) return;
    CurrentRefusal().sentence = std::move(sentence);
    const rlimit limit{std::min<rlim_t>(bytes, before.rlim_cur), before.rlim_max};
    is_set_ = setrlimit(RLIMIT_DATA, &limit) == 0;
    if (is_set_) std::set_new_handler(RefuseMore);
  }
  ~DataLimit() {
    if (!is_set_) return;
    std::set_new_handler(nullptr);
    setrlimit(RLIMIT_DATA, &CurrentRefusal().before);
  }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;

 private:
  bool is_set_ = false;
};

}  // namespace

int WithinMemoryLimit(const std::vector<std::string>& paths, const std::function<int()>& read) {
  uint64_t bytes = 0;
  for (const std::string& path : paths) {
    struct stat facts {};
    if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return read();
    bytes += static_cast<uint64_t>(facts.st_size);
  }
  return WithinMemoryLimitOf(bytes, absl::StrJoin(paths, " or "), read);
}

int WithinMemoryLimitOf(uint64_t bytes, const std::string& path, const std::function<int()>& read) {
  const uint64_t most = MostMemory(bytes);
  const DataLimit limit(most - kCode,
                        path + " needs more than " + std::to_string(most >> 20) +
                            " MiB of memory (4 times its size and 256 MiB), which no recording of "
                            "a program does; it is damaged, or was made to do this");
  return read();
}

bool KeepsToMemoryLimit(const std::string& path, const std::function<void()>& read) {
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    WithinMemoryLimit({path}, [&read] {
      read();
      return kDone;
    });
    _exit(kDone);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == kDone);
}

}  // namespace memtrace::command
