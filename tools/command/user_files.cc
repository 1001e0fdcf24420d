// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/user_files.h"

#include <system_error>
#include <utility>

#include "tools/launch/launch_plan.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

fs::path WorkingFolder() {
  std::error_code ignored;
  return fs::current_path(ignored);
}

}  // namespace

UserFiles::UserFiles(const std::vector<std::string>& command, fit::FileKeeping keeping,
                     const fs::path& scratch)
    : keeping_(std::move(keeping)),
      caches_(fit::CacheFolders(launch::CurrentEnvironment(), WorkingFolder())) {
  if (keeping_.layer_bytes == 0) watch_.emplace(fit::FoldersOf(command, WorkingFolder()), scratch);
}

void UserFiles::Tell(const std::set<std::string>& opened, fit::Answer& answer) const {
  answer.keeping = keeping_;
  if (watch_) answer.changes = watch_->Changes(opened);
}

}  // namespace memtrace::command
