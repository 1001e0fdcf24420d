// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_FOLDER_WATCH_H_
#define MEMTRACE_TOOLS_FIT_FILES_FOLDER_WATCH_H_

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace memtrace::fit {

// The difference between the user's files now and before.
struct FolderChanges {
  std::vector<std::string> names;  // files that were changed, made or removed
  uint64_t most = 0;               // the most files that are looked at
  bool saw_all = true;             // there were no more
};

// Remembers the files of folders, to tell later which have changed. Compares their names, sizes,
// times of modification and of change, and rights, not their contents.
class FolderWatch {
 public:
  static constexpr uint64_t kMost = 20'000;  // files; those deeper in folders come later

  // Looks at them now. Ignores files in `ignored` and files that this process prints to.
  FolderWatch(std::vector<std::filesystem::path> folders, std::filesystem::path ignored);

  // Looks at them again, and at files in `elsewhere`. Returns what has changed since this was made.
  FolderChanges Changes(const std::set<std::string>& elsewhere = {}) const;

 private:
  struct State {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    mode_t mode = 0;

    friend bool operator==(const State&, const State&) = default;
  };
  struct Seen {
    std::map<std::string, State> states;
    bool is_all = true;
  };

  static State StateOf(const struct stat& status);
  Seen Look() const;
  bool Counts(const std::filesystem::path& path, const struct stat& status) const;

  std::vector<std::filesystem::path> folders_;
  std::filesystem::path ignored_;
  int64_t begin_ns_;
  Seen before_;
};

// Returns the folders that a command is likely to write to: `working_folder`, the folders that its
// words name, and the folders of files that its words name.
std::vector<std::filesystem::path> FoldersOf(const std::vector<std::string>& command,
                                             const std::filesystem::path& working_folder);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_FOLDER_WATCH_H_
