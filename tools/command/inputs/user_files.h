// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_USER_FILES_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_USER_FILES_H_

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tools/fit/answer/answer.h"
#include "tools/fit/files/cache_folders.h"
#include "tools/fit/files/folder_watch.h"

namespace memtrace::command {

// The user's files during a search. It keeps the caches that the runs share, and if the runs have
// no layer over the other files, compares these with their earlier state.
class UserFiles {
 public:
  // `scratch` is the search's own folder.
  UserFiles(const std::vector<std::string>& command, const std::filesystem::path& scratch);

  // Writes into the answer how files were kept and, if there was no layer, what has changed.
  // `opened` are files that the runs opened for writing, anywhere.
  void Tell(const fit::FileKeeping& keeping, const std::set<std::string>& opened,
            fit::Answer& answer) const;

  // Returns what has changed, if there was no layer.
  fit::FolderChanges Changes(const fit::FileKeeping& keeping,
                             const std::set<std::string>& opened) const;

 private:
  fit::HeldCaches caches_;
  fit::FolderWatch watch_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_USER_FILES_H_
