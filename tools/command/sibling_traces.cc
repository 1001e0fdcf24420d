// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/sibling_traces.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "profiler/trace/format.h"

namespace memtrace::command {
namespace {

namespace fs = std::filesystem;

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "run.trace.4711" -> "run.trace"
std::string WithoutPid(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || !IsNumber(name.substr(dot + 1))) return name;
  return name.substr(0, dot);
}

bool IsTrace(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::array<char, trace::kFileMagic.size()> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return magic == trace::kFileMagic;
}

template <typename Wanted>
std::vector<std::string> SortedTraces(const fs::path& folder, const Wanted& wanted) {
  std::vector<std::string> found;
  std::error_code error;
  const fs::path searched = folder.empty() ? fs::path(".") : folder;
  for (fs::directory_iterator entry(searched, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (wanted(name) && IsTrace(entry->path())) found.push_back((folder / name).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::vector<std::string> SiblingTraces(const std::string& path) {
  const std::string own = fs::path(path).filename().string();
  const std::string base = WithoutPid(own);
  return SortedTraces(fs::path(path).parent_path(), [&own, &base](const std::string& name) {
    return name != own && WithoutPid(name) == base;
  });
}

std::vector<std::string> TracesIn(const std::string& folder) {
  return SortedTraces(folder, [](const std::string&) { return true; });
}

}  // namespace memtrace::command
