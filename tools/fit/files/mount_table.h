// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_FILES_MOUNT_TABLE_H_
#define MEMTRACE_TOOLS_FIT_FILES_MOUNT_TABLE_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::fit {

// A file system, or a part of one, and where it is mounted.
struct Mount {
  std::string path;
  std::string type;  // "ext4"
  bool is_read_only = false;

  friend bool operator==(const Mount&, const Mount&) = default;
};

// Parses the kernel's /proc/PID/mountinfo. A folder comes before the mounts in it; of several
// mounts at one place only the last counts. Lines that cannot be parsed are left out.
std::vector<Mount> ParseMountTable(const std::string& text);

// True for the kernel's own file systems (proc, devices, cgroups), which hold no user's files.
bool IsKernelFileSystem(const Mount& mount);

// True if `path` is `folder` or lies in it. Both are absolute and normal.
bool IsWithin(std::string_view path, std::string_view folder);

// Returns the path with links resolved as far as it exists, and normal.
std::filesystem::path WithoutLinks(const std::filesystem::path& path);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_FILES_MOUNT_TABLE_H_
