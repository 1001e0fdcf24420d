// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/recorded_process.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "profiler/trace/coding/format.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

std::string FolderOf(pid_t pid) { return "/proc/" + std::to_string(pid); }

// True for a regular file that is open for writing, begins like a trace and was not closed.
bool IsGrowingTrace(const fs::path& link) {
  struct stat facts {};
  if (lstat(link.c_str(), &facts) != 0 || (facts.st_mode & S_IWUSR) == 0) return false;
  if (stat(link.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  const int fd = open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  trace::FileHeader header;
  const bool is_whole = pread(fd, &header, sizeof(header), 0) == ssize_t{sizeof(header)};
  close(fd);
  return is_whole && header.magic == trace::kFileMagic && header.closed_bytes == 0;
}

std::optional<RecordedProcess> TraceOf(pid_t pid, std::error_code& error) {
  for (fs::directory_iterator entry(FolderOf(pid) + "/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsGrowingTrace(entry->path())) continue;
    std::error_code ignored;
    return RecordedProcess{.file = entry->path().string(),
                           .trace = fs::read_symlink(entry->path(), ignored).string()};
  }
  return std::nullopt;
}

void AddChildren(pid_t pid, std::vector<pid_t>& found) {
  std::error_code error;
  for (fs::directory_iterator task(FolderOf(pid) + "/task", error), end; !error && task != end;
       task.increment(error)) {
    std::ifstream children(task->path() / "children");
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
}

// Returns the recorded processes below a launcher (memtrace run, torchrun).
std::string RecordedBelow(pid_t pid) {
  constexpr size_t kMostLookedAt = 4096;
  std::vector<pid_t> below;
  AddChildren(pid, below);
  std::string names;
  for (size_t i = 0; i < below.size() && below.size() < kMostLookedAt; ++i) {
    std::error_code ignored;
    if (TraceOf(below[i], ignored)) names += (names.empty() ? "" : ", ") + std::to_string(below[i]);
    AddChildren(below[i], below);
  }
  return names;
}

}  // namespace

bool IsRunning(pid_t pid) { return access(FolderOf(pid).c_str(), F_OK) == 0; }

absl::StatusOr<RecordedProcess> FindRecordedProcess(pid_t pid) {
  const std::string who = "process " + std::to_string(pid);
  if (!IsRunning(pid)) {
    return absl::NotFoundError("there is no " + who +
                               "; if it has ended, memtrace report reads its trace");
  }
  std::error_code error;
  if (auto found = TraceOf(pid, error)) return *std::move(found);
  if (error == std::errc::permission_denied) {
    return absl::PermissionDeniedError(
        who + " belongs to another user; run memtrace as that user or as root");
  }
  const std::string below = RecordedBelow(pid);
  return absl::FailedPreconditionError(
      who + " is not recorded, has not used CUDA yet, or has closed its trace" +
      (below.empty() ? "" : "; these processes below it are recorded: " + below));
}

}  // namespace memtrace::command
