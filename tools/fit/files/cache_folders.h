// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_CACHE_FOLDERS_H_
#define MEMTRACE_TOOLS_FIT_FILES_CACHE_FOLDERS_H_

#include <filesystem>
#include <vector>

#include "tools/launch/launch_plan.h"

namespace memtrace::fit {

// Returns the folders in which libraries keep what they download and compile, from the
// environment's variables and the usual places (~/.cache), with links resolved. All runs share
// these, because each would download again otherwise. A folder that holds `working_folder` or the
// home folder is left out. interpose/python/memtrace/_scratch/_names.py has the same rule.
std::vector<std::filesystem::path> CacheFolders(const launch::Environment& environment,
                                                const std::filesystem::path& working_folder);

// Creates those cache folders that are missing and can be made, so that runs find them. The
// destructor removes them if they are still empty.
class HeldCaches {
 public:
  explicit HeldCaches(const std::vector<std::filesystem::path>& caches);
  HeldCaches(const HeldCaches&) = delete;
  HeldCaches& operator=(const HeldCaches&) = delete;
  ~HeldCaches();

 private:
  std::vector<std::filesystem::path> made_;
};

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_CACHE_FOLDERS_H_
