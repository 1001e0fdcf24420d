// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/folder_watch.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <system_error>
#include <utility>

#include "tools/fit/files/mount_table.h"

namespace memtrace::fit {
namespace {

namespace fs = std::filesystem;

int64_t NanosecondsOf(const timespec& time) {
  constexpr int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

// Returns the time by the clock that the kernel stamps files with.
int64_t Now() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return NanosecondsOf(now);
}

bool IsOutputOfThisProcess(const struct stat& status) {
  for (const int descriptor : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat printed = {};
    if (fstat(descriptor, &printed) == 0 && printed.st_dev == status.st_dev &&
        printed.st_ino == status.st_ino)
      return true;
  }
  return false;
}

}  // namespace

FolderWatch::FolderWatch(std::vector<fs::path> folders, fs::path ignored)
    : folders_(std::move(folders)),
      ignored_(std::move(ignored)),
      begin_ns_(Now()),
      before_(Look()) {}

FolderChanges FolderWatch::Changes(const std::set<std::string>& elsewhere) const {
  const Seen after = Look();
  FolderChanges changes{.names = {}, .most = kMost, .saw_all = before_.is_all && after.is_all};
  for (const auto& [name, state] : before_.states) {
    const auto now = after.states.find(name);
    // A missing file may merely lie beyond the last one that was looked at.
    const bool is_gone = now == after.states.end() && !fs::exists(fs::symlink_status(name));
    if (is_gone || (now != after.states.end() && now->second != state))
      changes.names.push_back(name);
  }
  for (const auto& [name, state] : after.states)
    if (before_.states.count(name) == 0 && before_.is_all) changes.names.push_back(name);
  for (const std::string& name : elsewhere) {
    struct stat status = {};
    if (lstat(name.c_str(), &status) == 0 && Counts(name, status) &&
        NanosecondsOf(status.st_ctim) >= begin_ns_)
      changes.names.push_back(name);
  }
  std::sort(changes.names.begin(), changes.names.end());
  changes.names.erase(std::unique(changes.names.begin(), changes.names.end()), changes.names.end());
  return changes;
}

// A folder's state is empty: its changes are those of its entries.
FolderWatch::State FolderWatch::StateOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return {};
  return {.inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = NanosecondsOf(status.st_mtim),
          .changed_ns = NanosecondsOf(status.st_ctim),
          .mode = status.st_mode};
}

FolderWatch::Seen FolderWatch::Look() const {
  Seen seen;
  std::deque<fs::path> waiting(folders_.begin(), folders_.end());
  while (!waiting.empty()) {
    const fs::path folder = std::move(waiting.front());
    waiting.pop_front();
    std::error_code error;
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      const std::string name = entry->path().lexically_normal().string();
      struct stat status = {};
      if (lstat(name.c_str(), &status) != 0 || !Counts(name, status)) continue;
      if (seen.states.size() >= kMost) seen.is_all = false;
      if (!seen.is_all) return seen;
      const bool is_new = seen.states.emplace(name, StateOf(status)).second;
      if (is_new && S_ISDIR(status.st_mode)) waiting.emplace_back(name);
    }
  }
  return seen;
}

bool FolderWatch::Counts(const fs::path& path, const struct stat& status) const {
  return !IsWithin(path.native(), ignored_.native()) && !IsOutputOfThisProcess(status);
}

std::vector<fs::path> FoldersOf(const std::vector<std::string>& command,
                                const fs::path& working_folder) {
  std::vector<fs::path> folders = {working_folder};
  for (size_t i = 1; i < command.size(); ++i) {  // the first word is the program
    const size_t equals = command[i].find('=');
    const std::string word =
        equals == std::string::npos ? command[i] : command[i].substr(equals + 1);
    std::error_code error;
    const fs::path named = fs::canonical(working_folder / word, error);
    if (error || word.empty()) continue;
    folders.push_back(fs::is_directory(named, error) ? named : named.parent_path());
  }
  return folders;
}

}  // namespace memtrace::fit
