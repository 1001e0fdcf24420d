// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/user_files.h"

#include <system_error>

#include "tools/launch/launch_plan.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

fs::path WorkingFolder() {
  std::error_code ignored;
  return fs::current_path(ignored);
}

}  // namespace

UserFiles::UserFiles(const std::vector<std::string>& command, const fs::path& scratch)
    : caches_(fit::CacheFolders(launch::CurrentEnvironment(), WorkingFolder())),
      watch_(fit::FoldersOf(command, WorkingFolder()), scratch) {}

void UserFiles::Tell(const fit::FileKeeping& keeping, const std::set<std::string>& opened,
                     fit::Answer& answer) const {
  answer.keeping = keeping;
  answer.changes = Changes(keeping, opened);
}

fit::FolderChanges UserFiles::Changes(const fit::FileKeeping& keeping,
                                      const std::set<std::string>& opened) const {
  return keeping.layer_bytes == 0 ? watch_.Changes(opened) : fit::FolderChanges();
}

}  // namespace memtrace::command
