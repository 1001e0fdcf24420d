// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/memory_limit.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <new>

#include "absl/strings/str_join.h"
#include "tools/command/exit_code.h"
#include "tools/command/program.h"

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

// From here to its end, malloc fails rather than take more than so many bytes in all.
class DataLimit {
 public:
  explicit DataLimit(uint64_t bytes) {
    if (kSanitized || getrlimit(RLIMIT_DATA, &before_) != 0) return;
    const rlimit limit{std::min<rlim_t>(bytes, before_.rlim_cur), before_.rlim_max};
    is_set_ = setrlimit(RLIMIT_DATA, &limit) == 0;
  }
  ~DataLimit() {
    if (is_set_) setrlimit(RLIMIT_DATA, &before_);
  }
  DataLimit(const DataLimit&) = delete;
  DataLimit& operator=(const DataLimit&) = delete;

 private:
  rlimit before_{};
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
  const uint64_t most = MostMemory(bytes);
  try {
    const DataLimit limit(most - kCode);
    return read();
  } catch (const std::bad_alloc&) {
    Note(absl::StrJoin(paths, " or ") + " asks for more than " + std::to_string(most >> 20) +
         " MiB of memory, 4 times the file and 256 MiB, which no program's recording does; it is "
         "damaged, or made to");
    return kUnreadable;
  }
}

}  // namespace memtrace::command
