// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/written_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace memtrace::launch {
namespace {

namespace fs = std::filesystem;

std::string Identity(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return "";
  return std::to_string(facts.st_ino) + " " + std::to_string(facts.st_size) + " " +
         std::to_string(facts.st_mtim.tv_sec) + "." + std::to_string(facts.st_mtim.tv_nsec);
}

}  // namespace

WrittenTraces::WrittenTraces(std::string output) : output_(std::move(output)), before_(List()) {}

bool WrittenTraces::IsTraceName(const std::string& name) const {
  if (output_.empty()) return name.rfind("memtrace-", 0) == 0 && name.find(".trace") != name.npos;
  const std::string own = fs::path(output_).filename().string();
  return name == own || name.rfind(own + ".", 0) == 0;
}

WrittenTraces::Listing WrittenTraces::List() const {
  Listing listing;
  std::error_code error;
  const fs::path folder = output_.empty() ? fs::path(".") : fs::path(output_).parent_path();
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!IsTraceName(name)) continue;
    const std::string path = output_.empty() ? name : entry->path().string();
    listing[path] = Identity(path);
  }
  return listing;
}

std::vector<std::string> WrittenTraces::Find() const {
  std::vector<std::string> written;
  for (const auto& [path, identity] : List()) {
    const auto old = before_.find(path);
    if (old == before_.end() || old->second != identity) written.push_back(path);
  }
  std::stable_partition(written.begin(), written.end(),
                        [this](const std::string& path) { return path == output_; });
  return written;
}

}  // namespace memtrace::launch
