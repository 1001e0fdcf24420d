// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fleet/trace_walk.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/trace/reading/trace_files.h"

namespace memtrace::fleet {
namespace {

namespace fs = std::filesystem;

// Adds the files of one folder to `found`, and the folders in it to `folders`.
void List(const fs::path& folder, std::vector<FoundFile>& found, std::vector<fs::path>& folders) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;  // it was removed meanwhile
    const fs::file_status status = entry->symlink_status(unknown);
    if (fs::is_directory(status)) folders.push_back(entry->path());
    if (!fs::is_regular_file(status)) continue;
    found.push_back({.path = entry->path().string(),
                     .has_name = trace::IsTraceName(entry->path().filename().string()),
                     .problem = ""});
  }
  if (!error) return;
  found.push_back(
      {.path = folder.string(),
       .has_name = false,
       .problem = absl::StrCat("cannot list the folder ", folder.string(), ": ", error.message())});
}

}  // namespace

std::vector<FoundFile> FindFiles(const std::string& folder) {
  std::vector<FoundFile> found;
  std::vector<fs::path> folders = {folder};
  while (!folders.empty()) {
    const fs::path next = std::move(folders.back());
    folders.pop_back();
    List(next, found, folders);
  }
  std::sort(found.begin(), found.end(),
            [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
  return found;
}

}  // namespace memtrace::fleet
