// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_CACHE_FOLDERS_H_
#define MEMTRACE_TOOLS_FIT_FILES_CACHE_FOLDERS_H_

#include <filesystem>
#include <vector>

#include "tools/launch/launch_plan.h"

namespace memtrace::fit {

// Returns the folders in which libraries keep what they download and compile, by the environment's
// names and the usual ones (~/.cache), links resolved: all runs share these, or each would download
// again. A folder that holds `working_folder` or the home folder is not among them. The same rule
// is in interpose/python/memtrace/_scratch/_names.py.
std::vector<std::filesystem::path> CacheFolders(const launch::Environment& environment,
                                                const std::filesystem::path& working_folder);

// Makes those of the folders that are not there but could be, so that runs find them; they go with
// this if they are still empty.
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
