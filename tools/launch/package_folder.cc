// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/package_folder.h"

#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "base/environment.h"
#include "tools/launch/program_file.h"

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

bool IsPackage(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "inject" / "sitecustomize.py", ignored);
}

// Adds PREFIX/LIBRARIES/python3.11/site-packages/memtrace and the like, for each Python of the
// prefix. Debian and Ubuntu have dist-packages, where pip installs without a virtual environment.
void AddEnvironmentFolders(const fs::path& libraries, std::vector<fs::path>& candidates) {
  std::error_code error;
  for (fs::directory_iterator entry(libraries, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().rfind("python3", 0) != 0) continue;
    candidates.push_back(entry->path() / "site-packages" / "memtrace");
    candidates.push_back(entry->path() / "dist-packages" / "memtrace");
  }
}

}  // namespace

absl::StatusOr<fs::path> FindPackageFolder() {
  if (const std::string home(env::Text(env::kHome)); !home.empty()) {
    if (IsPackage(home)) return fs::absolute(home);
    return absl::FailedPreconditionError("MEMTRACE_HOME is " + home +
                                         ", but memtrace's Python package is not there; unset it "
                                         "or name the folder that holds inject/sitecustomize.py");
  }
  const fs::path folder = fs::path(OwnProgram()).parent_path();
  std::vector<fs::path> candidates;
  AddEnvironmentFolders(folder.parent_path() / "lib", candidates);
  AddEnvironmentFolders(folder.parent_path() / "lib64", candidates);  // Fedora and similar systems
  candidates.push_back(folder.parent_path() / "memtrace");
  candidates.push_back(folder / "package" / "memtrace");
  candidates.push_back(folder / "package");
  for (const fs::path& candidate : candidates) {
    if (IsPackage(candidate)) return candidate;
  }
  return absl::FailedPreconditionError(
      "memtrace's Python package is not beside " + OwnProgram() +
      "; install it (pip install memtrace, or make build), or set MEMTRACE_HOME to its folder");
}

}  // namespace memtrace::launch
