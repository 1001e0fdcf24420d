// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/inputs/sibling_traces.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "profiler/trace/coding/format.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns "run.trace" for "run.trace.4711".
std::string WithoutPid(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || !IsNumber(name.substr(dot + 1))) return name;
  return name.substr(0, dot);
}

bool IsTrace(const fs::path& path) {
  std::array<char, trace::kFileMagic.size()> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return magic == trace::kFileMagic;
}

// True if the name is a trace's or a snapshot's in torch's documentation. Other pickles are
// ignored.
bool HasTraceOrSnapshotName(const fs::path& path) {
  const std::string name = WithoutPid(path.filename().string());
  return name.ends_with(".trace") || name.ends_with(".pickle") || name.ends_with(".pkl");
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
  const std::string base = WithoutPid(own);
  return SortedFiles(fs::path(path).parent_path(), [&own, &base](const fs::path& file) {
    const std::string name = file.filename().string();
    return name != own && WithoutPid(name) == base && IsTrace(file);
  });
}

std::vector<std::string> TracesIn(const std::string& folder) {
  return SortedFiles(
      folder, [](const fs::path& file) { return HasTraceOrSnapshotName(file) || IsTrace(file); });
}

}  // namespace memtrace::command
