// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/sibling_traces.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "profiler/trace/reading/trace_files.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

// True if the name is a trace's or a snapshot's in torch's documentation. Other pickles are
// ignored.
bool HasTraceOrSnapshotName(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string stem = trace::WithoutPid(name);
  return trace::IsTraceName(name) || stem.ends_with(".pickle") || stem.ends_with(".pkl");
}

// Returns the files for which `wanted` is true.
template <typename Wanted>
std::vector<std::string> SortedFiles(const fs::path& folder, const Wanted& wanted) {
  std::vector<std::string> found;
  std::error_code error;
  const fs::path searched = folder.empty() ? fs::path(".") : folder;
  for (fs::directory_iterator entry(searched, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && wanted(entry->path()))
      found.push_back((folder / entry->path().filename()).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> SiblingTraces(const std::string& path) {
  const std::string own = fs::path(path).filename().string();
  const std::string base = trace::WithoutPid(own);
  return SortedFiles(fs::path(path).parent_path(), [&own, &base](const fs::path& file) {
    const std::string name = file.filename().string();
    return name != own && trace::WithoutPid(name) == base && trace::BeginsAsTrace(file.string());
  });
}

std::vector<std::string> TracesIn(const std::string& folder) {
  return SortedFiles(folder, [](const fs::path& file) {
    return HasTraceOrSnapshotName(file) || trace::BeginsAsTrace(file.string());
  });
}

}  // namespace memtrace::command
