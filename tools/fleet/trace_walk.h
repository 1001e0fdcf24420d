// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FLEET_TRACE_WALK_H_
#define MEMTRACE_TOOLS_FLEET_TRACE_WALK_H_

#include <string>
#include <vector>

namespace memtrace::fleet {

// A file that may be a trace, or a folder that cannot be listed.
struct FoundFile {
  std::string path;       // begins with the folder that was searched
  bool has_name = false;  // a trace's name; other files are traces only if they begin as one
  std::string problem;    // a sentence about the folder; empty for a file
};

// Returns the regular files of a folder and of all folders in it, sorted by path. Does not follow
// symbolic links, so that no file is found twice. Opens no file.
std::vector<FoundFile> FindFiles(const std::string& folder);

}  // namespace memtrace::fleet

#endif  // MEMTRACE_TOOLS_FLEET_TRACE_WALK_H_
